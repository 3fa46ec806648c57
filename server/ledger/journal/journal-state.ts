import type { Log } from "../../kernel/log.ts";
import { JournalFailed } from "./journal.ts";

/** Whether the journal may be written to. A failure is permanent. */
export class JournalState {
  failed: string | null = null;
  closed = false;
  private readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  get usable(): boolean {
    return this.failed === null && !this.closed;
  }

  fail(reason: string, error: unknown): void {
    if (this.failed !== null) return;
    this.failed = reason;
    this.log.error("audit_journal_failed", { reason, error: error instanceof Error ? error : String(error) });
  }

  /** Marks the journal as failed and returns the error to throw. */
  failure(reason: string, cause: unknown): JournalFailed {
    this.fail(reason, cause);
    return new JournalFailed(reason, { cause });
  }

  guard(): void {
    if (this.failed !== null) throw new JournalFailed(this.failed);
    if (this.closed) throw new JournalFailed("the journal is closed");
  }
}
