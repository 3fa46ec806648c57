/** A stripped picture: the bytes needed to draw it, and its size in pixels. */
export interface StrippedPicture {
  readonly content: Buffer;
  readonly width: number;
  readonly height: number;
}
