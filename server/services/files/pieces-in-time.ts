/** Longest silence within a body, and longest total time for it, milliseconds. */
const IDLE_MS = 60_000;
const MAX_DURATION_MS = 3_600_000;

/**
 * The pieces of a body as they arrive. Calls `late`, which must cancel the reader, if the body stalls or takes too long. Rejects if it
 * breaks off.
 */
export async function* piecesInTime(reader: ReadableStreamDefaultReader<Uint8Array>, late: () => void): AsyncGenerator<Uint8Array> {
  const total = setTimeout(late, MAX_DURATION_MS);
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
