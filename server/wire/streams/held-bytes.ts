import { FrameTooLarge } from "./stream-bounds.ts";

/** Larger than any vendor's frame. Parsing takes several times this memory, so without a limit an upstream could exhaust it. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const MIN_ROOM = 1024;
const NOTHING = new Uint8Array(0);

/** The start of an incomplete frame, in one growing buffer because a piece may be a single byte. */
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

  /** Copies the piece. Throws `FrameTooLarge`. */
  add(piece: Uint8Array): void {
    const total = this.used + piece.byteLength;
    if (total > this.most) throw new FrameTooLarge(`a frame of the stream is larger than ${this.most >> 20} MiB`);
    if (total > this.room.byteLength) {
      const grown = new Uint8Array(Math.min(this.most, Math.max(MIN_ROOM, total * 2)));
      grown.set(this.view());
      this.room = grown;
    }
    this.room.set(piece, this.used);
    this.used = total;
  }

  /** Valid only until the next `add`. */
  view(): Uint8Array {
    return this.room.subarray(0, this.used);
  }

  /** Returns the held bytes and starts with an empty buffer. */
  take(): Uint8Array {
    const taken = this.view();
    this.room = NOTHING;
    this.used = 0;
    return taken;
  }
}
