const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Streams of which there are too many end each other long before. */
const HELD_MS = 300_000;

/** How long to wait before a stream that ended is opened again: longer each time, unless it had held. */
export function nextPause(before: number, livedMs: number): number {
  return livedMs >= HELD_MS ? FIRST_WAIT_MS : Math.min(Math.max(before * 2, FIRST_WAIT_MS), LONGEST_WAIT_MS);
}
