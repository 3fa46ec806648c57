import type { Log } from "../kernel/log.ts";

/**
 * Logs a rejection that nobody waits for, which else would end the process and with it everybody's calls. Nothing is
 * decided by it: whatever lets a call pass or records it is waited for.
 */
export function outliveStrayRejections(log: Log): void {
  process.on("unhandledRejection", (reason) =>
    log.error("unhandled_rejection", { error: reason instanceof Error ? reason : String(reason) }),
  );
}
