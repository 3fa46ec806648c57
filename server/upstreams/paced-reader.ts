/** What is made of so many bytes takes a few milliseconds at most, whatever they are. */
const MAX_PIECE = 8 * 1024;
/** Bytes that may be handed on, of all answers together, before everything else gets its turn. */
const TURN_BYTES = 16 * 1024;
/** What the smallest piece costs, as bytes. */
const PIECE_COST = 128;

let spent = 0;
const waiting: { readonly cost: number; readonly go: () => void }[] = [];

export interface PacedReader {
  /** Null at the end. */
  read(): Promise<Uint8Array | null>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Reads an upstream's answer in small pieces, and lets everything else have its turn between them: an upstream may send
 * as fast as it likes, what is done with it must not keep others waiting. An ordinary stream comes in pieces that are
 * smaller and never waits.
 */
export function pacedReader(body: ReadableStream<Uint8Array>): PacedReader {
  const reader = body.getReader();
  let rest: Uint8Array | null = null;
  return {
    async read() {
      let piece = rest;
      if (piece === null) {
        const { done, value } = await reader.read();
        if (done) return null;
        piece = value;
      }
      const now = piece.byteLength <= MAX_PIECE ? piece : piece.subarray(0, MAX_PIECE);
      rest = now === piece ? null : piece.subarray(MAX_PIECE);
      const turn = turnFor(now.byteLength + PIECE_COST);
      if (turn !== null) await turn;
      return now;
    },
    cancel: (reason) => {
      rest = null;
      return reader.cancel(reason);
    },
  };
}

/** Null where the piece may be handed on now. Those that wait go on in their order. */
function turnFor(cost: number): Promise<void> | null {
  if (waiting.length === 0 && spent + cost <= TURN_BYTES) {
    spent += cost;
    return null;
  }
  return new Promise((go) => {
    waiting.push({ cost, go });
    if (waiting.length === 1) setImmediate(nextTurn);
  });
}

function nextTurn(): void {
  spent = 0;
  while (waiting.length > 0 && spent < TURN_BYTES) {
    const { cost, go } = waiting.shift() as (typeof waiting)[number];
    spent += cost;
    go();
  }
  if (waiting.length > 0) setImmediate(nextTurn);
}
