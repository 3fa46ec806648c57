import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** Limits on the characters and texts of one tenant that wait to be counted. */
const LONGEST = 4_000_000;
const MOST_OF_ONE = 256;
/** The thread gives up on a text much earlier; the rest is for loading the vocabulary. */
const LONGEST_MS = 60_000;

/** Counts tokens as OpenAI's models do (o200k), on a separate thread. */
export class TokenCounts {
  private readonly turns = new ThreadTurns<string, number>(
    () => new Worker(new URL("./token-count-thread.ts", import.meta.url)),
    LONGEST_MS,
  );

  /** The number of tokens; null if the tenant's queue is full or counting takes too long. Never rejects. */
  async count(tenantId: string, text: string): Promise<number | null> {
    const others = this.turns.waitingOf(tenantId);
    const length = others.reduce((sum, one) => sum + one.length, text.length);
    return length > LONGEST || others.length >= MOST_OF_ONE ? null : this.turns.ask(tenantId, text);
  }
}
