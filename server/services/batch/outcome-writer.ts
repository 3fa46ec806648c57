import type { BatchStore, LineResult } from "../../directory/batch/batch-store.ts";
import { storableText } from "../../kernel/text/storable.ts";
import type { Log } from "../../kernel/log.ts";

const AGAIN_MS = 500;
const MAX_LINES = 200;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Writes line results to the database; results that arrive during a write are written together in the next one. A failed write is retried
 * until it succeeds.
 */
export class OutcomeWriter {
  private readonly store: Pick<BatchStore, "writeOutcomes">;
  private readonly owner: string;
  private readonly log: Log;
  private waiting: { readonly outcome: LineResult; readonly written: () => void }[] = [];
  private writing = false;

  constructor(store: Pick<BatchStore, "writeOutcomes">, owner: string, log: Log) {
    this.store = store;
    this.owner = owner;
    this.log = log;
  }

  /** Resolves when the outcome is written. Messages are made storable first: one the database rejects would block all that follow. */
  write({ error, ...result }: LineResult): Promise<void> {
    const outcome = { ...result, error: error === null ? null : { code: error.code, message: storableText(error.message) } };
    return new Promise((resolve) => {
      this.waiting.push({ outcome, written: resolve });
      if (!this.writing) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.writing = true;
    while (this.waiting.length > 0) {
      const now = this.waiting.splice(0, this.together());
      try {
        await this.store.writeOutcomes(
          this.owner,
          now.map(({ outcome }) => outcome),
        );
        for (const { written } of now) written();
      } catch (error) {
        this.log.warn("batch_results_not_written", { error: error as Error });
        this.waiting.unshift(...now);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
    this.writing = false;
  }

  /** How many waiting outcomes go into one statement, at least one: large results would make it too big for the database. */
  private together(): number {
    let characters = 0;
    for (const [at, { outcome }] of this.waiting.entries()) {
      characters += outcome.result?.length ?? 0;
      if (at === MAX_LINES || (at > 0 && characters > MAX_CHARACTERS)) return at;
    }
    return this.waiting.length;
  }
}
