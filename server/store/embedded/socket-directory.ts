import { createHash } from "node:crypto";
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canEnter } from "./account.ts";
import { EmbeddedPostgresError } from "./error.ts";
import type { Home } from "./home.ts";

/** The shortest limit of all supported systems (macOS: 104 bytes including the final zero; Linux: 108). */
const MAX_SOCKET_PATH_LENGTH = 103;
const LONGEST_NAME = ".s.PGSQL.5432.lock";

export interface SocketDirectory {
  readonly path: string;
  /** Removes what a killed PostgreSQL left. Only call while none runs: PostgreSQL would take a reused process ID for a live server. */
  clear(): void;
  /** Call at the end of the run. */
  remove(): void;
}

const fits = (directory: string) => Buffer.byteLength(join(directory, LONGEST_NAME)) <= MAX_SOCKET_PATH_LENGTH;

function clear(path: string): void {
  for (const name of readdirSync(path)) if (name.startsWith(".s.PGSQL.")) rmSync(join(path, name), { force: true });
}

/** The name is the same in every run, so that the next one cleans up. Fails if another user has taken it. */
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

/** Beside the cluster, or in a short private directory if that path is too long for a socket. */
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
