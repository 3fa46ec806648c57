import type { Log } from "../../kernel/log.ts";
import type { JournalFiles, Position, Segment } from "./segments.ts";

/** The journal could not store something, so nothing it reports afterwards can be trusted. It stays failed. */
export class JournalFailed extends Error {}

export interface JournalOptions {
  readonly directory: string;
  readonly files: JournalFiles;
  readonly log: Log;
  /** Limit on bytes that wait for the database. */
  readonly maxBytes: number;
  /** Size at which a segment is closed and a new one begun. */
  readonly segmentBytes: number;
  /** Segments from before, oldest first, all on stable storage. */
  readonly existing: readonly Segment[];
  /** Number of the first segment to create. */
  readonly number: number;
  /** Returns the JSON header for a segment begun now. */
  readonly header: () => string;
}

/**
 * The writing end of a journal. A begin marker is written at once; sealed rows go with the next marker or sync, so that rows that end
 * together cost one write. Syncs are shared by all who wait.
 */
export interface Journal {
  /**
   * Written when it returns, so it survives if the process is killed. Never refused for lack of space: the call was admitted while there
   * was some. Throws `JournalFailed`.
   */
  begin(id: string, payload: string): void;
  /** Never refused for lack of space: the call has been served. Throws `JournalFailed`. */
  seal(id: string, line: string): void;
  checkpoint(json: string): void;
  /** Writes everything that is still buffered. Throws `JournalFailed`. */
  write(): void;
  /** Resolves when everything written is on stable storage; rejects with `JournalFailed`. `alone`: see `GroupSync`. */
  synced(alone?: boolean): Promise<void>;
  /** Whether there is room for one more call besides `calls` open calls, or besides those with a begin marker if they are more. */
  accepting(calls?: number): boolean;
  /** Begins a new segment, so that the previous one can be deleted once shipped. Throws if it cannot right now. */
  rotate(): void;
  /** Call periodically: begins a new segment if rows have been in the current one for `ms`. True if it did. */
  rotateWhenOld(ms: number): boolean;
  /**
   * Call periodically: reserves released ballast again and, if the disk is short of space, begins a new segment if that may help. True if
   * it began one.
   */
  makeRoom(): boolean;
  /** Deletes segments before the position, whose rows are in the database. */
  free(shipped: Position): void;
  fail(reason: string, error: unknown): void;
  close(): void;
  readonly written: Position;
  readonly stable: Position;
  readonly failed: string | null;
  readonly openCalls: number;
  readonly unshippedBytes: number;
  readonly syncs: number;
  readonly syncMs: number;
}
