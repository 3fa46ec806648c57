/** Bytes by their key, which is of letters, digits and `-`. A key is written once. */
export interface BlobStore {
  /** What the store is, for people. */
  readonly address: string;
  /** The id of a directory that other processes may not reach; null for what all of them do. */
  readonly directory: string | null;
  /** Resolves once they are on stable storage under the key; when `bytes` throws, nothing of them is left. */
  write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** From `start` to before `end`. Rejects when there are none of that key. */
  read(key: string, start: number, end: number): Promise<ReadableStream<Uint8Array>>;
  /** Also where there is nothing of that key: false where that can be told. */
  remove(key: string): Promise<boolean>;
}
