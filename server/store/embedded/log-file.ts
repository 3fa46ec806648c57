import { copyFileSync, statSync, truncateSync } from "node:fs";

const MAX_BYTES = 4 * 1024 * 1024;
const CHECK_MS = 60_000;

/** Keeps one older part. Truncates in place, because PostgreSQL appends to the descriptor it was given. */
function boundOnce(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= MAX_BYTES) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}

export function boundLogFile(path: string): { end(): void } {
  boundOnce(path);
  const timer = setInterval(() => boundOnce(path), CHECK_MS);
  timer.unref();
  return { end: () => clearInterval(timer) };
}
