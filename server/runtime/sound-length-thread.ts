import { parentPort } from "node:worker_threads";
import { ALL_FORMATS, FilePathSource, Input } from "mediabunny";
import type { ThreadJob, ThreadJobDone } from "./thread-turns.ts";

/** Longer than anything in a file of the permitted size: larger values are not believed. */
const MAX_SECONDS = 30 * 86_400;

async function secondsOf(path: string): Promise<number | null> {
  const input = new Input({ formats: ALL_FORMATS, source: new FilePathSource(path) });
  try {
    const seconds = await input.computeDuration();
    return Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS ? seconds : null;
  } catch {
    return null;
  } finally {
    input.dispose();
  }
}

parentPort?.on("message", ({ id, job: path }: ThreadJob<string>) => {
  void secondsOf(path).then((result) => parentPort?.postMessage({ id, result } satisfies ThreadJobDone<number>, []));
});
