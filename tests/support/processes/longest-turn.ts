import { cpuMs } from "./cpu-time.ts";

/** The longest CPU time of one turn of the event loop during `work`, in milliseconds, and the number of turns. */
export async function longestTurn<T>(work: () => T | Promise<T>): Promise<{ result: T; longestMs: number; turns: number }> {
  let over = false;
  let turns = 0;
  let began = cpuMs();
  let longestMs = 0;
  const result = Promise.resolve(work()).finally(() => {
    over = true;
  });
  while (!over) {
    longestMs = Math.max(longestMs, cpuMs(began));
    began = cpuMs();
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { result: await result, longestMs, turns };
}
