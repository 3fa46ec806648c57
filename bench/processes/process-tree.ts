import { readdirSync, readFileSync } from "node:fs";

/** Processes and their resource usage, read from /proc; Linux only. */

/** A PID with the process's start time, because PIDs are reused. */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: number;
}

interface ProcessStat extends ProcessId {
  readonly name: string;
  readonly parent: number;
  /** Clock ticks, its own and those of children it has waited for. */
  readonly ticks: number;
}

// USER_HZ: fixed at 100 for user space on every Linux architecture that Bun runs on.
const TICKS_PER_SECOND = 100;

function statOf(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name is in parentheses and may itself contain parentheses.
  const nameEnd = text.lastIndexOf(")");
  const fields = text.slice(nameEnd + 2).split(" ");
  const number = (index: number) => Number(fields[index - 3]);
  if (fields[0] === "Z") return undefined;
  return {
    pid,
    name: text.slice(text.indexOf("(") + 1, nameEnd),
    parent: number(4),
    startTime: number(22),
    ticks: number(14) + number(15) + number(16) + number(17),
  };
}

export function isAlive({ pid, startTime }: ProcessId): boolean {
  return statOf(pid)?.startTime === startTime;
}

/** The process and all its descendants. */
export function treeOf(root: number): ProcessStat[] {
  const all = new Map<number, ProcessStat>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = statOf(Number(entry));
    if (stat) all.set(stat.pid, stat);
  }
  const within = (stat: ProcessStat | undefined): boolean => stat !== undefined && (stat.pid === root || within(all.get(stat.parent)));
  return [...all.values()].filter(within);
}

/** Separate figures for the target's own processes and for its database. */
export interface Split {
  readonly own: number;
  readonly database: number;
}

export const total = ({ own, database }: Split): number => own + database;

const isDatabase = (stat: ProcessStat): boolean => stat.name.startsWith("postgres");

function split(tree: readonly ProcessStat[], measure: (members: readonly ProcessStat[]) => number): Split {
  return { own: measure(tree.filter((stat) => !isDatabase(stat))), database: measure(tree.filter(isDatabase)) };
}

export function cpuSeconds(root: number): Split {
  return split(treeOf(root), (members) => members.reduce((sum, stat) => sum + stat.ticks, 0) / TICKS_PER_SECOND);
}

function residentMb(members: readonly ProcessStat[]): number {
  let kb = 0;
  let shared = 0;
  for (const { pid } of members) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "latin1");
      const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      kb += field("RssAnon") + field("RssFile");
      // Database processes map the same shared memory, so it is counted once, at its largest.
      shared = Math.max(shared, field("RssShmem"));
    } catch {
      // The process ended meanwhile.
    }
  }
  return (kb + shared) / 1024;
}

export function memoryMb(root: number): Split {
  return split(treeOf(root), residentMb);
}
