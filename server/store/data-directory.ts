import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { syncDirectory, writeWhole } from "../runtime/whole-file.ts";
import { type FileLock, LockedError, lockFile } from "../runtime/file-lock.ts";

/** The private directory of one gateway process, locked until it is closed or the process ends. */
export interface DataDirectory {
  /** Real, absolute path. */
  readonly path: string;
  readonly secretsPath: string;
  readonly journalPath: string;
  /** Names of the secrets that this process generated. */
  readonly made: readonly string[];
  /** The content of `secrets/<name>`, which is generated and stored durably if it does not exist. */
  secret(name: string, generate: () => string): string;
  hasSecret(name: string): boolean;
  close(): void;
}

/** A one-line reason why the gateway cannot start. */
export class DataDirectoryError extends Error {}

/** A process whose launcher was killed ends by itself soon; a live one is not waited for any longer. */
const LOCK_WAIT_MS = 1_500;

const userId = (): number => process.getuid?.() ?? 0;

function makeDirectory(path: string): void {
  try {
    if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(dirname(path));
  } catch (error) {
    throw new DataDirectoryError(`the data directory ${path} cannot be made: ${(error as Error).message}`);
  }
}

/**
 * As root, the data directory belongs to the user PostgreSQL runs as, who could replace our files: anything not owned by our own user is
 * rejected with `DataDirectoryError`.
 */
export function requireOwn(path: string, kind: "directory" | "file"): void {
  const stat = lstatSync(path);
  const fits = kind === "directory" ? stat.isDirectory() : stat.isFile();
  if (!fits) throw new DataDirectoryError(`${path} is not a ${kind}`);
  if (stat.uid !== userId())
    throw new DataDirectoryError(
      `${path} belongs to user ${stat.uid}, but this process runs as user ${userId()}: start it as the user that made it`,
    );
  if ((stat.mode & 0o077) !== 0)
    throw new DataDirectoryError(
      `${path} is open to other users (mode ${(stat.mode & 0o777).toString(8)}): take their access away with chmod go= first`,
    );
}

function makeOwn(path: string): void {
  makeDirectory(path);
  requireOwn(path, "directory");
}

function takeLock(directory: string, lockPath: string): FileLock {
  try {
    return lockFile(lockPath, { waitMs: LOCK_WAIT_MS });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new DataDirectoryError(
      `the data directory ${directory} is in use by ${error.pid === undefined ? "another process" : `process ${error.pid}`}: stop it, or give this one another GW_DATA_DIR`,
    );
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Throws `DataDirectoryError` if this process may not or cannot use the directory. */
export function openDataDirectory(path: string): DataDirectory {
  makeDirectory(resolve(path));
  const real = realpathSync(path);
  const owner = lstatSync(real).uid;
  if (userId() !== 0 && owner !== userId())
    throw new DataDirectoryError(`the data directory ${real} belongs to user ${owner}, but this process runs as user ${userId()}`);
  const secretsPath = join(real, "secrets");
  const journalPath = join(real, "journal");
  try {
    chmodSync(real, 0o700);
    makeOwn(secretsPath);
    makeOwn(journalPath);
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(`the data directory ${real} is not writable: ${(error as Error).message}`);
  }
  const lock = takeLock(real, join(secretsPath, "lock"));

  const made: string[] = [];
  const pathOf = (name: string) => join(secretsPath, name);
  return {
    path: real,
    secretsPath,
    journalPath,
    made,
    secret(name, generate) {
      const file = pathOf(name);
      if (!exists(file)) {
        writeWhole(file, generate());
        made.push(name);
      }
      requireOwn(file, "file");
      return readFileSync(file, "utf8");
    },
    hasSecret: (name) => exists(pathOf(name)),
    close: () => lock.release(),
  };
}
