import { readFileSync, readlinkSync } from "node:fs";

/** What the system counts processor time in. */
const TICK_MS = 10;

/** What the system calls the thread this runs on; null where it does not say. */
export function ownThread(): string | null {
  try {
    return readlinkSync("/proc/thread-self").split("/").at(-1) ?? null;
  } catch {
    return null;
  }
}

/** Processor time that a thread of this process has taken, milliseconds; null where the system does not say. */
export function threadTime(thread: string): number | null {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "latin1");
    // The name, which stands in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isNaN(ticks) ? null : ticks * TICK_MS;
  } catch {
    return null;
  }
}
