import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { type Flock, loadFlock } from "./flock.ts";

const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;
/** The kernel closes what an ended process had open some milliseconds after it says that it has ended. */
const LET_GO_MS = 250;
let flock: Flock | undefined;

export class LockedError extends Error {
  /** The process that holds the lock, as far as it said. */
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
 * An exclusive lock held by the kernel: it ends with the process however that ends, so there is no stale lock to
 * clear and no pid to guess about. The descriptor is close-on-exec, so no child keeps it. Waits at most `waitMs`
 * (blocking; long enough for one that has just ended when left out), then throws `LockedError`.
 */
export function lockFile(path: string, options: { waitMs?: number } = {}): FileLock {
  flock ??= loadFlock();
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  const deadline = Date.now() + (options.waitMs ?? LET_GO_MS);
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
