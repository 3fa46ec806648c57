import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError } from "./error.ts";

const POLL_MS = 5;
/** SIGKILL cannot be refused, but on a busy machine a process may take long to be scheduled and to free its memory. */
const KILLED_MS = 60_000;
/** Fast shutdown, immediate shutdown, last resort. Smart shutdown would wait for our own connections. */
const ESCALATION = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 3_000],
  ["SIGKILL", KILLED_MS],
] as const;
/** For a server whose owner is gone: it may be frozen, and its next start recovers whatever it has not written. */
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

/** Reads postmaster.pid: the process ID is in the first line, the state in the eighth. */
export function readState(cluster: string): ClusterState | undefined {
  if (!existsSync(pidFile(cluster))) return undefined;
  const lines = readFileSync(pidFile(cluster), "utf8").split("\n");
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, ready: ["ready", "standby"].includes(lines[7]?.trim() ?? "") } : undefined;
}

/** A name unique on this machine that every process of the cluster carries in its command line. */
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

/** All processes of this machine with their command lines. */
function processes(): { pid: number; command: string }[] {
  if (process.platform === "linux")
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), command: commandLine(Number(name)) }));
  return ps("-ax")
    .split("\n")
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.replace(/^\s*\d+\s+/, "") }));
}

/** Whether the process was stopped by SIGSTOP and so ignores other signals. False if that cannot be told. */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "T";
  } catch {
    return false;
  }
}

/** A zombie still has its process ID, but no command line. */
function runsOn(cluster: string, pid: number): boolean {
  return commandLine(pid).includes(cluster);
}

/** IDs of the cluster's processes: the server by the setting it was started with, its children by their process titles. */
function runningOn(cluster: string): number[] {
  const name = clusterName(cluster);
  return processes()
    .filter(({ command }) => command.includes(` cluster_name=${name} `) || command.startsWith(`postgres: ${name}: `))
    .map(({ pid }) => pid);
}

/** Resolves to true once nothing runs any more, to false after `withinMs`. */
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

/** Resolves when the PostgreSQL with this process ID no longer runs on the cluster. */
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
 * Ends a PostgreSQL that outlived the process that started it. The caller must hold the home's lock, so that whatever runs on this cluster
 * has no owner.
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  if (!existsSync(pidFile(cluster))) return false;
  const state = readState(cluster);
  const alive = state !== undefined && runsOn(cluster, state.pid);
  if (alive) await endProcess(cluster, state.pid, isStopped(state.pid) ? [["SIGKILL", KILLED_MS]] : ORPHAN_ESCALATION);
  // The children of a killed server notice its death only after a while. Until then they hold the cluster's shared memory, and the next
  // server refuses to start.
  const left = runningOn(cluster);
  for (const pid of left) send(pid, "SIGKILL");
  if (!(await ended(() => runningOn(cluster).length > 0, KILLED_MS)))
    throw new EmbeddedPostgresError(`PostgreSQL (process ${runningOn(cluster).join(", ")}) does not end`);
  // PostgreSQL would refuse to start if the ID belongs to another program by now, or if the file is incomplete.
  rmSync(pidFile(cluster), { force: true });
  return alive || left.length > 0;
}
