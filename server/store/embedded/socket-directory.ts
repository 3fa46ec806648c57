import { createHash } from "node:crypto";
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canEnter } from "./account.ts";
import { EmbeddedPostgresError } from "./error.ts";
import type { Home } from "./home.ts";

/** The shortest limit of the systems we run on (macOS has 104 bytes, its closing zero included; Linux 108). */
const LONGEST_SOCKET_PATH = 103;
const LONGEST_NAME = ".s.PGSQL.5432.lock";

export interface SocketDirectory {
  readonly path: string;
  /** Takes away what a killed PostgreSQL left. Only while none runs: it would hold a reused pid for a live server. */
  clear(): void;
  /** At the end of the run. */
  remove(): void;
}

const fits = (directory: string) => Buffer.byteLength(join(directory, LONGEST_NAME)) <= LONGEST_SOCKET_PATH;

function clear(path: string): void {
  for (const name of readdirSync(path)) if (name.startsWith(".s.PGSQL.")) rmSync(join(path, name), { force: true });
}

/** A name that is the same in every run, so that the next one clears up; not where somebody else has taken it. */
function privateDirectory(parent: string, home: Home): string {
  const path = join(parent, `gatehouse-${createHash("sha256").update(home.path).digest("hex").slice(0, 12)}`);
  const owner = home.account?.uid ?? process.getuid?.();
  try {
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const ours = stat?.isDirectory() && stat.uid === owner && (stat.mode & 0o077) === 0;
    return ours ? path : mkdtempSync(join(parent, "gatehouse-"));
  }
}

/** Beside the cluster, or in a short private directory when that path is too long for a socket. */
export function makeSocketDirectory(home: Home): SocketDirectory {
  const give = (path: string) => {
    if (home.account !== undefined) chownSync(path, home.account.uid, home.account.gid);
  };
  const beside = join(home.path, "socket");
  if (fits(beside)) {
    mkdirSync(beside, { recursive: true, mode: 0o700 });
    give(beside);
    return { path: beside, clear: () => clear(beside), remove: () => {} };
  }
  for (const parent of [tmpdir(), "/tmp"]) {
    const path = privateDirectory(parent, home);
    give(path);
    if (fits(path) && canEnter(home.account, path))
      return { path, clear: () => clear(path), remove: () => rmSync(path, { recursive: true, force: true }) };
    rmSync(path, { recursive: true });
  }
  throw new EmbeddedPostgresError(`the path of the data directory is too long for a database socket, and so is ${tmpdir()}`);
}
