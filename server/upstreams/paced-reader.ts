/** A piece this large takes a few milliseconds at most to process. */
const MAX_PIECE = 8 * 1024;
/** How long pieces may keep everything else waiting, milliseconds. */
const TURN_MS = 10;
/** Most bytes of queued pieces, over all answers, handed on in one turn of the event loop; and the fixed cost of a piece, in bytes. */
const TURN_BYTES = 16 * 1024;
const PIECE_COST = 128;

/** When the first piece of this turn of the event loop was handed on; null before. */
let began: number | null = null;
const waiting: { readonly cost: number; readonly go: () => void }[] = [];

/** A transformation of an answer's bytes. */
export interface PieceChange {
  /** What can be passed on of this piece and of what was held back; null if everything is held back. */
  push(piece: Uint8Array): Uint8Array | null;
  /** What was held back; null if nothing was. */
  end(): Uint8Array | null;
}

/**
 * Reads an upstream's answer in small pieces and yields to the event loop between them, so that a fast upstream does not delay other calls.
 * The pieces of an ordinary stream are smaller and never wait.
 */
export class PacedReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly change: PieceChange;
  private rest: Uint8Array | null = null;

  constructor(body: ReadableStream<Uint8Array>, change: PieceChange) {
    this.reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    this.change = change;
  }

  get closed(): Promise<undefined> {
    return this.reader.closed as Promise<undefined>;
  }

  // A single function, because each further await costs as much as a small piece.
  async read(): Promise<{ readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value: undefined }> {
    for (;;) {
      let piece = this.rest;
      if (piece === null) {
        const { done, value } = await this.reader.read();
        if (done) {
          const last = this.change.end();
          return last === null ? { done: true, value: undefined } : { done: false, value: last };
        }
        piece = value;
      }
      if (piece.byteLength > MAX_PIECE) {
        this.rest = piece.subarray(MAX_PIECE);
        piece = piece.subarray(0, MAX_PIECE);
      } else this.rest = null;
      const turn = turnFor(piece.byteLength + PIECE_COST);
      if (turn !== null) await turn;
      const changed = this.change.push(piece);
      if (changed !== null) return { done: false, value: changed };
    }
  }

  cancel(reason?: unknown): Promise<void> {
    this.rest = null;
    return this.reader.cancel(reason);
  }

  releaseLock(): void {
    this.reader.releaseLock();
  }
}

/** Null if the piece may be handed on now; otherwise pieces go on in FIFO order. */
function turnFor(cost: number): Promise<void> | null {
  if (waiting.length === 0) {
    if (began === null) {
      startTurn();
      return null;
    }
    if (performance.now() - began < TURN_MS) return null;
  }
  return new Promise((go) => waiting.push({ cost, go }));
}

function startTurn(): void {
  began = performance.now();
  setImmediate(nextTurn);
}

function nextTurn(): void {
  began = null;
  if (waiting.length === 0) return;
  startTurn();
  for (let spent = 0; waiting.length > 0 && spent < TURN_BYTES;) {
    const { cost, go } = waiting.shift() as (typeof waiting)[number];
    spent += cost;
    go();
  }
}
