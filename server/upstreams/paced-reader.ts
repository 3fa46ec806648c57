/** What is made of so many bytes takes a few milliseconds at most, whatever they are. */
const MAX_PIECE = 8 * 1024;
/** How long pieces may keep everything else waiting, milliseconds. */
const TURN_MS = 10;
/** Bytes of pieces that have waited, of all answers together, that are handed on in one turn, and what the smallest piece costs. */
const TURN_BYTES = 16 * 1024;
const PIECE_COST = 128;

/** When the first piece of this turn of the event loop was handed on; null before. */
let began: number | null = null;
const waiting: { readonly cost: number; readonly go: () => void }[] = [];

/** What is done to an answer on its way. */
export interface PieceChange {
  /** What goes on of a piece and of what was held before it; null where all of it is held. */
  push(piece: Uint8Array): Uint8Array | null;
  /** What was held; null where nothing was. */
  end(): Uint8Array | null;
}

/**
 * Reads an upstream's answer in small pieces, and lets everything else have its turn between them: an upstream may send
 * as fast as it likes, what is done with it must not keep others waiting. An ordinary stream comes in pieces that are
 * smaller and never waits.
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

  // One function, since each that waits for another costs as much as a small piece does.
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

/** Null where the piece may be handed on now. Those that wait go on in their order. */
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
