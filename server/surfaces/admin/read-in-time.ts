/** How long a reader may take nothing, and what it has to take besides. A connection may keep a megabyte back before it asks for more. */
const PACE = { patienceMs: 60_000, bytesPerSecond: 32 * 1024 };
const LOOKS = 4;

/**
 * Gives the pieces to a reader who takes them at a pace, and ends them for one who stops or trickles: what they are read from is held
 * until they end, and others wait for it. A reader who is fast gains no more patience than it had at the start.
 */
export async function* readInTime(pieces: AsyncGenerator<string>, { patienceMs, bytesPerSecond } = PACE): AsyncGenerator<string> {
  let left = patienceMs;
  let waitingSince: number | null = null;
  let isLate = false;
  const looking = setInterval(() => {
    if (waitingSince === null || performance.now() - waitingSince < left) return;
    isLate = true;
    clearInterval(looking);
    // Whoever asks for the next piece is told; of its end alone nobody is.
    pieces.return(undefined).catch(() => undefined);
  }, patienceMs / LOOKS);
  try {
    for await (const piece of pieces) {
      waitingSince = performance.now();
      yield piece;
      if (isLate) throw new Error("the reader of an export took too little of it for too long");
      left = Math.min(patienceMs, left - (performance.now() - waitingSince) + (piece.length / bytesPerSecond) * 1000);
      waitingSince = null;
    }
  } finally {
    clearInterval(looking);
  }
}
