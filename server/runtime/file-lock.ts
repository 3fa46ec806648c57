import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { type Flock, loadFlock } from "./flock.ts";

const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;
/** The kernel may release the files of a process some milliseconds after its exit is reported. */
const RELEASE_WAIT_MS = 250;
let flock: Flock | undefined;

export class LockedError extends Error {
  /** The process that holds the lock, if the file names one. */
  readonly pid: number | undefined;
  constructor(path: string, pid: number | undefined) {
    super(`${path} is locked by ${pid === undefined ? "another process" : `process ${pid}`}`);
    this.pid = pid;
  }
}

export interface FileLock {
  release(): void;
}

/**
 * Takes an exclusive lock held by the kernel. It ends with the process, however that ends, so locks never go stale. The descriptor is
 * close-on-exec, so children do not inherit it. Blocks for up to `waitMs` (by default long enough for a process that has just exited), then
 * throws `LockedError`.
 */
export function lockFile(path: string, options: { waitMs?: number } = {}): FileLock {
  flock ??= loadFlock();
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const deadline = Date.now() + (options.waitMs ?? RELEASE_WAIT_MS);
  while (flock(fd, LOCK_EXCLUSIVE | LOCK_NOT_WAITING) !== 0) {
    if (Date.now() >= deadline) {
      closeSync(fd);
      const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
      throw new LockedError(path, Number.isInteger(pid) ? pid : undefined);
    }
    Bun.sleepSync(10);
  }
  ftruncateSync(fd, 0);
  writeSync(fd, `${process.pid}\n`, 0);
  let held = true;
  return {
    release() {
      if (held) closeSync(fd);
      held = false;
    },
  };
}
