import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** Limits on the characters and texts of one tenant that wait to be counted. */
const MAX_LENGTH = 4_000_000;
const MAX_PER_TENANT = 256;
/** The thread gives up on a text much earlier; the rest is for loading the vocabulary. */
const MAX_DURATION_MS = 60_000;

/** Counts tokens as OpenAI's models do (o200k), on a separate thread. */
export class TokenCounts {
  private readonly turns = new ThreadTurns<string, number>(
    () => new Worker(new URL("./token-count-thread.ts", import.meta.url)),
    MAX_DURATION_MS,
  );

  /** The number of tokens; null if the tenant's queue is full or counting takes too long. Never rejects. */
  async count(tenantId: string, text: string): Promise<number | null> {
    const others = this.turns.waitingOf(tenantId);
    const length = others.reduce((sum, one) => sum + one.length, text.length);
    return length > MAX_LENGTH || others.length >= MAX_PER_TENANT ? null : this.turns.ask(tenantId, text);
  }
}
