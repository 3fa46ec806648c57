import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError } from "./error.ts";

const POLL_MS = 5;
/** Nothing refuses this signal, but to be gone takes a turn of the processor and the memory given back: long where machines are busy. */
const KILLED_MS = 60_000;
/** Fast shutdown, immediate shutdown, the last resort; the smart one would wait for our own connections. */
const ESCALATION = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 3_000],
  ["SIGKILL", KILLED_MS],
] as const;
/** Of one whose owner is gone: a frozen one hears nothing, and whatever it has not written down itself its next start recovers. */
const ORPHAN_ESCALATION = [
  ["SIGINT", 1_000],
  ["SIGQUIT", 500],
  ["SIGKILL", KILLED_MS],
] as const;

export function pidFile(cluster: string): string {
  return join(cluster, "postmaster.pid");
}

export interface ClusterState {
  readonly pid: number;
  readonly ready: boolean;
}

/** What PostgreSQL has written about itself: the pid first, its state in the eighth line. */
export function readState(cluster: string): ClusterState | undefined {
  if (!existsSync(pidFile(cluster))) return undefined;
  const lines = readFileSync(pidFile(cluster), "utf8").split("\n");
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, ready: ["ready", "standby"].includes(lines[7]?.trim() ?? "") } : undefined;
}

/** The one name on this machine that every process of a cluster carries in its command line. */
export function clusterName(cluster: string): string {
  const { dev, ino } = statSync(cluster);
  return `gatehouse-${dev}-${ino}`;
}

function ps(...args: string[]): string {
  return spawnSync("ps", ["-ww", "-o", "pid=,command=", ...args], { encoding: "utf8" }).stdout;
}

function commandLine(pid: number): string {
  if (process.platform !== "linux") return ps("-p", String(pid));
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Each process of this machine with its command line. */
function processes(): { pid: number; command: string }[] {
  if (process.platform === "linux")
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), command: commandLine(Number(name)) }));
  return ps("-ax")
    .split("\n")
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.replace(/^\s*\d+\s+/, "") }));
}

/** Whether somebody sent it SIGSTOP: it hears nothing else then. Where that cannot be told, it is found out by asking. */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "T";
  } catch {
    return false;
  }
}

/** A dead process that nobody has waited for still has its pid, but no command line. */
function runsOn(cluster: string, pid: number): boolean {
  return commandLine(pid).includes(cluster);
}

/** What runs on the cluster: the server under the setting it was started with, its children under the title they give themselves. */
function runningOn(cluster: string): number[] {
  const name = clusterName(cluster);
  return processes()
    .filter(({ command }) => command.includes(` cluster_name=${name} `) || command.startsWith(`postgres: ${name}: `))
    .map(({ pid }) => pid);
}

/** True when there is nothing left of it; false when that takes too long. */
async function ended(runs: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (runs()) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Resolves when the PostgreSQL with this pid no longer runs on the cluster. */
export async function endProcess(
  cluster: string,
  pid: number,
  escalation: readonly (readonly [NodeJS.Signals, number])[] = ESCALATION,
): Promise<void> {
  for (const [signal, withinMs] of escalation) {
    if (!runsOn(cluster, pid)) return;
    send(pid, signal);
    if (await ended(() => runsOn(cluster, pid), withinMs)) return;
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not end`);
}

/**
 * Ends a PostgreSQL that outlived the process that started it. Only for the holder of the home's lock: whatever runs
 * on this cluster is then nobody's.
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  if (!existsSync(pidFile(cluster))) return false;
  const state = readState(cluster);
  const alive = state !== undefined && runsOn(cluster, state.pid);
  if (alive) await endProcess(cluster, state.pid, isStopped(state.pid) ? [["SIGKILL", KILLED_MS]] : ORPHAN_ESCALATION);
  // A server that was killed leaves children that notice it in their own time; until then they hold the cluster's
  // shared memory, and the next server refuses to start.
  const left = runningOn(cluster);
  for (const pid of left) send(pid, "SIGKILL");
  if (!(await ended(() => runningOn(cluster).length > 0, KILLED_MS)))
    throw new EmbeddedPostgresError(`PostgreSQL (process ${runningOn(cluster).join(", ")}) does not end`);
  // When the pid is another program's by now, or the file was never finished, PostgreSQL would refuse to start.
  rmSync(pidFile(cluster), { force: true });
  return alive || left.length > 0;
}
