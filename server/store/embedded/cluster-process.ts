import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError } from "./error.ts";

const POLL_MS = 5;
/** Fast shutdown, immediate shutdown, the last resort; the smart one would wait for our own connections. */
const ESCALATION = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 3_000],
  ["SIGKILL", 2_000],
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
  return pid > 0 ? { pid, ready: lines[7]?.trim() === "ready" } : undefined;
}

function commandLine(pid: number): string {
  if (process.platform === "linux") {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  }
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

/** A dead process that nobody has waited for still has its pid, but no command line. */
function runsOn(cluster: string, pid: number): boolean {
  return commandLine(pid).includes(cluster);
}

async function endOf(cluster: string, pid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (runsOn(cluster, pid)) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Resolves when the PostgreSQL with this pid no longer runs on the cluster. */
export async function endProcess(cluster: string, pid: number): Promise<void> {
  for (const [signal, withinMs] of ESCALATION) {
    if (!runsOn(cluster, pid)) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    if (await endOf(cluster, pid, withinMs)) return;
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not end`);
}

/**
 * Ends a PostgreSQL that outlived the process that started it. Only for the holder of the home's lock: whatever runs
 * on this cluster is then nobody's.
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  const state = readState(cluster);
  if (state === undefined) return false;
  if (runsOn(cluster, state.pid)) {
    await endProcess(cluster, state.pid);
    return true;
  }
  // When the pid is another program's by now, PostgreSQL would take that for a running server and refuse to start.
  // What still guards the files then is their shared memory, which it finds without this file.
  rmSync(pidFile(cluster), { force: true });
  return false;
}
