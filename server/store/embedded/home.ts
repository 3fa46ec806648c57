import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OsAccount, canEnter, isRoot, unprivilegedAccount } from "./account.ts";
import { EmbeddedPostgresError } from "./error.ts";

/** Root-owned, for files that an unprivileged user must reach when our own directories are closed to it. */
export const SYSTEM_DIRECTORY = "/var/lib/gatehouse";

export interface Home {
  /** Our own directory with the cluster, its log and its lock. */
  readonly path: string;
  /** PGDATA, owned by `account`. */
  readonly cluster: string;
  readonly log: string;
  readonly account: OsAccount | undefined;
}

const clusterIn = (path: string) => join(path, "cluster");

function homeAt(path: string, account: OsAccount | undefined): Home {
  return { path, cluster: clusterIn(path), log: join(path, "postgresql.log"), account };
}

/** A cluster keeps the user that created it, whatever users the machine has been given since. */
function accountOf(homes: readonly string[]): OsAccount {
  for (const home of homes) {
    const stat = statSync(clusterIn(home), { throwIfNoEntry: false });
    if (stat !== undefined && stat.uid !== 0) return { name: `user ${stat.uid}`, uid: stat.uid, gid: stat.gid };
  }
  return unprivilegedAccount();
}

function makeHome(path: string, mode: number): void {
  mkdirSync(path, { recursive: true });
  // The parent may belong to the user PostgreSQL runs as, so a link or folder that this user put here is not followed.
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.())
    throw new EmbeddedPostgresError(`${path} is not a directory of the user this process runs as`);
  chmodSync(path, mode);
}

/**
 * Finds or creates the home of a data directory's cluster: `postgresql/` inside it or, if the user PostgreSQL runs as cannot get there (a
 * data directory below /root), a directory below /var/lib/gatehouse. A file beside the secrets then points to it.
 */
export function findHome(dataDirectory: string): Home {
  const inside = join(dataDirectory, "postgresql");
  if (!isRoot()) {
    makeHome(inside, 0o700);
    return homeAt(inside, undefined);
  }

  // Among the secrets, because the data directory itself may belong to PostgreSQL's user.
  const pointer = join(dataDirectory, "secrets", "postgresql-home");
  const outside = existsSync(pointer)
    ? readFileSync(pointer, "utf8").trim()
    : join(SYSTEM_DIRECTORY, createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16));
  const account = accountOf([inside, outside]);
  if (!existsSync(pointer)) {
    // The directory stays closed to everyone else; `secrets/` and `journal/` inside it belong to root.
    chownSync(dataDirectory, account.uid, account.gid);
    makeHome(inside, 0o711);
    if (canEnter(account, inside)) return homeAt(inside, account);
    chownSync(dataDirectory, 0, 0);
    if (existsSync(clusterIn(inside)))
      throw new EmbeddedPostgresError(
        `${account.name}, whom the embedded PostgreSQL runs as, cannot enter ${inside}: open the directories above it (chmod ` +
          `+x), or move the data directory back`,
      );
    rmSync(inside, { recursive: true });
  }
  makeHome(SYSTEM_DIRECTORY, 0o755);
  makeHome(outside, 0o711);
  if (!canEnter(account, outside))
    throw new EmbeddedPostgresError(
      `${account.name}, whom the embedded PostgreSQL runs as, can enter neither ${inside} nor ${outside}: choose another ` +
        `GW_DATA_DIR, or set DATABASE_URL`,
    );
  if (!existsSync(pointer)) writeFileSync(pointer, `${outside}\n`, { mode: 0o600 });
  return homeAt(outside, account);
}
