import type { Log } from "../kernel/log.ts";

/**
 * Logs an unhandled rejection, which otherwise would end the process and with it all calls. Nothing is
 * decided by it: whatever lets a call pass or records it is waited for.
 */
export function logUnhandledRejections(log: Log): void {
  process.on("unhandledRejection", (reason) =>
    log.error("unhandled_rejection", { error: reason instanceof Error ? reason : String(reason) }),
  );
}
