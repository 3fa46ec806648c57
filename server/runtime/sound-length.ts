import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** An honest file of the largest size takes a fraction of it, the library's own loading most of the rest. */
const LONGEST_MS = 10_000;
const MOST_OF_ONE = 64;

/**
 * Measures how long sound and moving pictures play, on a thread of its own: what a file says of itself is its sender's word,
 * and following it may take for ever.
 */
export class SoundLengths {
  private readonly turns = new ThreadTurns<string, number>(
    () => new Worker(new URL("./sound-length-thread.ts", import.meta.url)),
    LONGEST_MS,
  );

  /** Null where the file does not tell, or not in time. Never rejects. */
  async seconds(tenantId: string, path: string): Promise<number | null> {
    return this.turns.waitingOf(tenantId).length >= MOST_OF_ONE ? null : this.turns.ask(tenantId, path);
  }
}
