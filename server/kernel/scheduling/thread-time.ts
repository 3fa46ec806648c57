import { readFileSync, readlinkSync } from "node:fs";

/** The unit in which the system reports processor time. */
const TICK_MS = 10;

/** The system's ID of the current thread; null if it does not say. */
export function ownThread(): string | null {
  try {
    return readlinkSync("/proc/thread-self").split("/").at(-1) ?? null;
  } catch {
    return null;
  }
}

/** Processor time that a thread of this process has taken, in milliseconds; null if the system does not say. */
export function threadTime(thread: string): number | null {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "latin1");
    // The thread's name, in brackets, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isNaN(ticks) ? null : ticks * TICK_MS;
  } catch {
    return null;
  }
}
