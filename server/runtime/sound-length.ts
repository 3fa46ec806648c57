import { Worker } from "node:worker_threads";
import { ThreadTurns } from "./thread-turns.ts";

/** The largest valid file takes a fraction of this; loading the library takes most of the rest. */
const MAX_DURATION_MS = 10_000;
const MAX_PER_TENANT = 64;

/** Measures the duration of audio and video on a separate thread, because a malicious file may take forever to parse. */
export class AudioLengths {
  private readonly turns = new ThreadTurns<string, number>(
    () => new Worker(new URL("./sound-length-thread.ts", import.meta.url)),
    MAX_DURATION_MS,
  );

  /** Duration in seconds; null if it is not known or could not be measured in time. Never rejects. */
  async seconds(tenantId: string, path: string): Promise<number | null> {
    return this.turns.waitingOf(tenantId).length >= MAX_PER_TENANT ? null : this.turns.ask(tenantId, path);
  }
}
