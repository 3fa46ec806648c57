import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FIXED_WORK = fileURLToPath(new URL("./fixed-work.ts", import.meta.url));

/**
 * Milliseconds of processor time of this process, all its threads together, since `since` (or since it began): what
 * something costs, which does not grow because the machine has other things to do, as the time on the clock does.
 */
export function cpuMs(since = 0): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - since;
}

/** Of Linux's counters of processes, whatever the machine's own clock ticks at. */
const TICK_MS = 10;

/** The same of another process, with every process below it, those that have ended among them. */
export function cpuMsOfTree(pid: number): number {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(entry);
    if (stat === null) continue;
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(entry)]);
    // User and system time, of itself and of the children it has waited for.
    ticks.set(
      Number(entry),
      rest.slice(9, 13).reduce((sum, value) => sum + Number(value), 0),
    );
  }
  const sum = (of: number): number => (ticks.get(of) ?? 0) + (children.get(of) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid) * TICK_MS;
}

/**
 * The same of the thread of a process that serves its calls: what others of it compile and collect keeps no call waiting. One file
 * is read, so that little happens between what is measured and the reading.
 */
export function servingMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const [, , ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(rest[9]) + Number(rest[10])) * TICK_MS;
}

function statOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // It ended while we looked.
    return null;
  }
}

/**
 * Milliseconds of processor time that one piece of work costs here and now, which is the same work each time. A bound on processor time
 * is told as a multiple of it: processors differ, and one that shares its caches or its core with other work is slower by half.
 */
export function fixedWorkMs(): number {
  const { resourceUsage, exitCode } = Bun.spawnSync([process.execPath, FIXED_WORK]);
  if (exitCode !== 0) throw new Error(`the fixed work ended with ${exitCode}`);
  return Number(resourceUsage.cpuTime.total) / 1000;
}
