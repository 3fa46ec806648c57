import { FrameTooLarge } from "./stream-bounds.ts";

/** No vendor sends a larger one, and what is made of it takes several times its room: without a bound an upstream could fill the memory. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const LEAST_ROOM = 1024;
const NOTHING = new Uint8Array(0);

/** The beginning of a frame that is not whole yet: in one place, because a piece may be a single byte. */
export class HeldBytes {
  private readonly most: number;
  private room = NOTHING;
  private used = 0;

  constructor(most = MAX_FRAME_BYTES) {
    this.most = most;
  }

  get length(): number {
    return this.used;
  }

  /** A copy of the piece is kept. Throws `FrameTooLarge`. */
  add(piece: Uint8Array): void {
    const total = this.used + piece.byteLength;
    if (total > this.most) throw new FrameTooLarge(`a frame of the stream is larger than ${this.most >> 20} MiB`);
    if (total > this.room.byteLength) {
      const grown = new Uint8Array(Math.min(this.most, Math.max(LEAST_ROOM, total * 2)));
      grown.set(this.view());
      this.room = grown;
    }
    this.room.set(piece, this.used);
    this.used = total;
  }

  /** Good until more is added. */
  view(): Uint8Array {
    return this.room.subarray(0, this.used);
  }

  /** What was held, which nothing is added to any more. */
  take(): Uint8Array {
    const taken = this.view();
    this.room = NOTHING;
    this.used = 0;
    return taken;
  }
}
