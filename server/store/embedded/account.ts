import { spawnSync } from "node:child_process";
import { EmbeddedPostgresError } from "./error.ts";

/** The operating system user that PostgreSQL runs as; undefined means our own, the only possible one unless we are root. */
export interface OsAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ["gatehouse", "postgres", "nobody"];

/** Keeps our secrets and locale out of PostgreSQL's environment. */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" };

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function numberOf(flag: string, name: string): number {
  const { status, stdout } = spawnSync("id", [flag, name], { encoding: "utf8" });
  return status === 0 ? Number(stdout) : Number.NaN;
}

/** The first unprivileged user of this machine, because PostgreSQL refuses to run as root. */
export function unprivilegedAccount(): OsAccount {
  for (const name of CANDIDATES) {
    const uid = numberOf("-u", name);
    const gid = numberOf("-g", name);
    if (uid > 0 && gid >= 0) return { name, uid, gid };
  }
  throw new EmbeddedPostgresError(
    `started as root, but this machine has none of the users ${CANDIDATES.join(", ")} for the embedded PostgreSQL to run ` +
      `as: add one, or set DATABASE_URL`,
  );
}

export interface CommandResult {
  readonly ok: boolean;
  readonly output: string;
}

/** Spawn options for a child running as that user, in a working directory that every user may enter. */
export function asAccount(account: OsAccount | undefined) {
  return { cwd: "/", env: { ...CHILD_ENVIRONMENT }, ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }) };
}

export function runAs(account: OsAccount | undefined, command: string, args: readonly string[], input = ""): CommandResult {
  const { status, signal, stdout, stderr, error } = spawnSync(command, [...args], { ...asAccount(account), input, encoding: "utf8" });
  return { ok: status === 0, output: [error?.message, stdout, stderr, signal].filter(Boolean).join("\n").trim() };
}

export function canEnter(account: OsAccount | undefined, directory: string): boolean {
  return runAs(account, "/bin/sh", ["-c", 'cd "$1"', "sh", directory]).ok;
}
