import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** Characters of one tenant that wait to be counted, and texts. */
const LONGEST = 4_000_000;
const MOST_OF_ONE = 256;
/** The thread itself gives up on a text long before; what is left is the loading of the vocabulary. */
const LONGEST_MS = 60_000;

/** Counts tokens as models of OpenAI do (o200k), on a thread of its own. */
export class TokenCounts {
  private readonly turns = new ThreadTurns<string, number>(
    () => new Worker(new URL("./token-count-thread.ts", import.meta.url)),
    LONGEST_MS,
  );

  /** Null where nobody has the time: too much of the tenant's waits, or counting would take too long. Never rejects. */
  async count(tenantId: string, text: string): Promise<number | null> {
    const others = this.turns.waitingOf(tenantId);
    const length = others.reduce((sum, one) => sum + one.length, text.length);
    return length > LONGEST || others.length >= MOST_OF_ONE ? null : this.turns.ask(tenantId, text);
  }
}
