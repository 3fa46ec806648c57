import type { Log } from "../kernel/log.ts";

/**
 * Logs unhandled rejections, which would otherwise end the process and all its calls. This is safe: everything that admits or records a
 * call is awaited.
 */
export function logUnhandledRejections(log: Log): void {
  process.on("unhandledRejection", (reason) =>
    log.error("unhandled_rejection", { error: reason instanceof Error ? reason : String(reason) }),
  );
}
