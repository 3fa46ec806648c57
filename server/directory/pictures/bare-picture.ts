/** What a file of a picture is reduced to: the bytes that draw it, and its size in pixels. */
export interface StrippedPicture {
  readonly content: Buffer;
  readonly width: number;
  readonly height: number;
}
