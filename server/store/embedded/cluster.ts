import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "../../runtime/whole-file.ts";
import { type OsAccount, runAs } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedPostgresError } from "./error.ts";
import type { Home } from "./home.ts";
import { startupFailureReason } from "./startup-failure.ts";

export const SUPERUSER = "gatehouse";
export const DATABASE = "gatehouse";

/** Code point order with Unicode case rules, built into PostgreSQL: indexes stay valid when the machine's locales change. */
const LOCALE = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];

function run(account: OsAccount | undefined, command: string, args: readonly string[], input?: string): void {
  const outcome = runAs(account, command, args, input);
  if (!outcome.ok) throw new EmbeddedPostgresError(`the embedded database could not be made: ${startupFailureReason(outcome.output)}`);
}

function give(path: string, account: OsAccount | undefined): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}

/** Hands a cluster owned by root, which is what root's restore of a backup leaves, to the user PostgreSQL runs as. */
function giveRestored(cluster: string, account: OsAccount): void {
  // Only root could have put links into it.
  if (statSync(cluster).uid !== 0) return;
  for (const entry of readdirSync(cluster, { recursive: true, encoding: "utf8" }))
    lchownSync(join(cluster, entry), account.uid, account.gid);
  lchownSync(cluster, account.uid, account.gid);
}

/** Creates the cluster if it does not exist. A crash leaves an unfinished folder, which the next start removes. */
export function makeCluster(home: Home, binaries: Binaries, password: string): void {
  const prefix = `${basename(home.cluster)}.`;
  for (const name of readdirSync(home.path)) if (name.startsWith(prefix)) rmSync(join(home.path, name), { recursive: true, force: true });
  if (existsSync(home.cluster)) {
    if (home.account !== undefined) giveRestored(home.cluster, home.account);
    return;
  }

  const unfinished = `${home.cluster}.${process.pid}`;
  mkdirSync(unfinished, { mode: 0o700 });
  give(unfinished, home.account);
  const data = join(unfinished, "data");
  const passwordFile = join(unfinished, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  give(passwordFile, home.account);
  run(home.account, binaries.initdb, [
    `--pgdata=${data}`,
    `--username=${SUPERUSER}`,
    ...LOCALE,
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--no-sync",
    "--no-instructions",
  ]);
  rmSync(passwordFile);
  run(home.account, binaries.postgres, ["--single", "-D", data, "-c", "fsync=off", "template1"], `CREATE DATABASE ${DATABASE}\n`);
  run(home.account, binaries.initdb, ["--sync-only", `--pgdata=${data}`]);
  chmodSync(data, 0o700);
  renameSync(data, home.cluster);
  rmSync(unfinished, { recursive: true });
  syncDirectory(dirname(home.cluster));
}
