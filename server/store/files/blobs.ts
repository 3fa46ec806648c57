/** Stores bytes by key. Keys consist of letters, digits and `-`, and each is written once. */
export interface BlobStore {
  /** Where the store is, for people to read. */
  readonly address: string;
  /** The ID of a directory that other processes may not reach; null if all processes reach the store. */
  readonly directory: string | null;
  /** Resolves once the bytes are on stable storage. If `bytes` throws, nothing is left of them. */
  write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** The bytes from `start` up to `end`, exclusive. Rejects if the key does not exist. */
  read(key: string, start: number, end: number): Promise<ReadableStream<Uint8Array>>;
  /** A missing key is not an error: returns false if the store can tell. */
  remove(key: string): Promise<boolean>;
}
