const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** Milliseconds after which a stream counts as stable; streams in excess of the connection limit are closed long before. */
const HELD_MS = 300_000;

/** Backoff before a stream is reopened, in milliseconds: it grows with each attempt and resets after a stable stream. */
export function nextPause(before: number, livedMs: number): number {
  return livedMs >= HELD_MS ? FIRST_WAIT_MS : Math.min(Math.max(before * 2, FIRST_WAIT_MS), MAX_WAIT_MS);
}
