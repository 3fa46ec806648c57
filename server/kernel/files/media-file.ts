/** A file sent with a call, which may be forwarded with it. */
export interface MediaFile {
  /** As the sender named it. */
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** SHA-256. */
  readonly hash: string;
  /** Playing time; null if it has none or does not say. */
  readonly seconds: number | null;
  open(): ReadableStream<Uint8Array>;
}
