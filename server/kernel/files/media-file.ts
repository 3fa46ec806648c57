/** A file that came along with a call and may be sent on with it. */
export interface MediaFile {
  /** As its sender named it. */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** SHA-256. */
  readonly hash: string;
  /** How long it plays; null where it plays not, or does not tell. */
  readonly seconds: number | null;
  open(): ReadableStream<Uint8Array>;
}
