import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { asAccount } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { clusterName, endProcess, pidFile, readState } from "./cluster-process.ts";
import { EmbeddedPostgresError } from "./error.ts";
import type { Home } from "./home.ts";

export interface Postmaster {
  readonly pid: number;
  /** Resolves when the process has ended for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 5;

function lastLines(home: Home, from: number): string {
  const lines = readFileSync(home.log).subarray(from).toString("utf8").trim().split("\n");
  const fatal = lines.filter((line) => /FATAL|PANIC|error while loading/.test(line));
  return (fatal.length > 0 ? fatal : lines).slice(-2).join(" ");
}

/**
 * Stops PostgreSQL if this process ends without having done so, even by SIGKILL: the guard's standard input is a pipe from us, which the
 * kernel closes with us.
 */
function guard(home: Home, pid: number): { dismiss(): void } {
  const script = 'read -r _; [ "$(head -n 1 "$2")" = "$1" ] && kill -INT "$1"';
  const child = spawn("/bin/sh", ["-c", script, "sh", String(pid), pidFile(home.cluster)], {
    ...asAccount(home.account),
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.on("error", () => {});
  child.unref();
  return { dismiss: () => void child.kill("SIGKILL") };
}

/** Resolves once it accepts connections, which includes any recovery. */
export async function startPostmaster(home: Home, binaries: Binaries, args: readonly string[]): Promise<Postmaster> {
  const log = openSync(home.log, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const logStart = readFileSync(home.log).byteLength;
  // In a process group of its own, so that Ctrl-C in a terminal reaches only us; we stop PostgreSQL once we have drained.
  const child = spawn(binaries.postgres, ["-D", home.cluster, "-c", `cluster_name=${clusterName(home.cluster)}`, ...args], {
    ...asAccount(home.account),
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  let gone = false;
  const exited = new Promise<void>((resolve) => {
    const done = () => {
      gone = true;
      resolve();
    };
    child.once("exit", done);
    child.once("error", done);
  });
  const { pid } = child;
  if (pid === undefined) throw new EmbeddedPostgresError(`PostgreSQL could not be started from ${binaries.postgres}`);
  child.unref();
  const guarding = guard(home, pid);
  void exited.then(() => guarding.dismiss());

  for (;;) {
    if (gone) throw new EmbeddedPostgresError(`PostgreSQL did not start: ${lastLines(home, logStart)} (see ${home.log})`);
    const state = readState(home.cluster);
    if (state?.pid === pid && state.ready) break;
    await delay(POLL_MS);
  }
  return {
    pid,
    exited,
    async stop() {
      // Without this reference our process could exit silently before PostgreSQL has ended.
      child.ref();
      await endProcess(home.cluster, pid);
      await exited;
    },
  };
}
