import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FIXED_WORK = fileURLToPath(new URL("./fixed-work.ts", import.meta.url));

/**
 * CPU time of this process in milliseconds, all threads together, since `since` (or since it began). Unlike wall-clock time, it does not
 * grow because the machine is busy.
 */
export function cpuMs(since = 0): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - since;
}

/** Linux reports process times in these ticks, whatever the kernel's own. */
const TICK_MS = 10;

/** CPU time of another process and all its descendants, including ended ones. */
export function cpuMsOfTree(pid: number): number {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(entry);
    if (stat === null) continue;
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(entry)]);
    // User and system time, its own and that of children it has waited for.
    ticks.set(
      Number(entry),
      rest.slice(9, 13).reduce((sum, value) => sum + Number(value), 0),
    );
  }
  const sum = (of: number): number => (ticks.get(of) ?? 0) + (children.get(of) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid) * TICK_MS;
}

/**
 * CPU time of the thread that serves a process's calls: compilation and garbage collection on other threads delay no call. Reads a single
 * file, so that little happens between the measured work and the reading.
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
    // The process ended meanwhile.
    return null;
  }
}

/**
 * CPU time in milliseconds of a fixed piece of work on this machine. CPU time bounds are multiples of it, because processors differ, and
 * one that shares caches or a core with other work is half as fast.
 */
export function fixedWorkMs(): number {
  const { resourceUsage, exitCode } = Bun.spawnSync([process.execPath, FIXED_WORK]);
  if (exitCode !== 0) throw new Error(`the fixed work ended with ${exitCode}`);
  return Number(resourceUsage.cpuTime.total) / 1000;
}
