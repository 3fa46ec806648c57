/** Silence after which a body is given up, and the longest one may take, milliseconds. */
const IDLE_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** A body as it comes. `late` is told when it stops coming or takes too long, and has to cancel the reader. Rejects when it breaks off. */
export async function* piecesInTime(reader: ReadableStreamDefaultReader<Uint8Array>, late: () => void): AsyncGenerator<Uint8Array> {
  const total = setTimeout(late, LONGEST_MS);
  try {
    for (;;) {
      const idle = setTimeout(late, IDLE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(idle));
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(total);
  }
}
