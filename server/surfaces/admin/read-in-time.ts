/** How long a reader may pause, and its minimum rate. A connection may buffer up to a megabyte before it asks for more. */
const PACE = { patienceMs: 60_000, bytesPerSecond: 32 * 1024 };
const CHECKS = 4;

/**
 * Yields the pieces to a reader that keeps a minimum pace, and ends them for one that stops or trickles, because their source is held open
 * until they end and others wait for it. A fast reader earns no more patience than it had at the start.
 */
export async function* readInTime(pieces: AsyncGenerator<string>, { patienceMs, bytesPerSecond } = PACE): AsyncGenerator<string> {
  let left = patienceMs;
  let waitingSince: number | null = null;
  let isLate = false;
  const deadlineCheck = setInterval(() => {
    if (waitingSince === null || performance.now() - waitingSince < left) return;
    isLate = true;
    clearInterval(deadlineCheck);
    // The reader is told when it asks for the next piece; nobody awaits this promise.
    pieces.return(undefined).catch(() => undefined);
  }, patienceMs / CHECKS);
  try {
    for await (const piece of pieces) {
      waitingSince = performance.now();
      yield piece;
      if (isLate) throw new Error("the reader of an export took too little of it for too long");
      left = Math.min(patienceMs, left - (performance.now() - waitingSince) + (piece.length / bytesPerSecond) * 1000);
      waitingSince = null;
    }
  } finally {
    clearInterval(deadlineCheck);
  }
}
