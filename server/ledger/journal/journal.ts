import type { Log } from "../../kernel/log.ts";
import type { JournalFiles, Position, Segment } from "./segments.ts";

/** The journal could not store something, so nothing it says from then on could be believed. It stays failed. */
export class JournalFailed extends Error {}

export interface JournalOptions {
  readonly directory: string;
  readonly files: JournalFiles;
  readonly log: Log;
  /** Bytes that may wait for the database. */
  readonly maxBytes: number;
  /** Size at which a segment is closed and a new one begun. */
  readonly segmentBytes: number;
  /** Segments left from before, oldest first, all on stable storage. */
  readonly existing: readonly Segment[];
  /** Number of the segment to begin with. */
  readonly number: number;
  /** JSON of the header of a segment begun now. */
  readonly header: () => string;
}

/**
 * The writing end of a journal. A begin marker is handed to the system at once; what is sealed goes with the next marker
 * or sync, whichever comes first, so that rows that end together cost one write. Stable storage is reached in groups.
 */
export interface Journal {
  /**
   * Written when it returns, so that a process that is killed leaves it. Never refused for lack of room: the call was let in while there
   * was some. Throws `JournalFailed`.
   */
  begin(id: string, payload: string): void;
  /** Never refused for lack of room: the call has been served. Throws `JournalFailed`. */
  seal(id: string, line: string): void;
  checkpoint(json: string): void;
  /** Hands everything to the system that was not handed to it yet. Throws `JournalFailed`. */
  write(): void;
  /** Resolves when all that is written is on stable storage; rejects with `JournalFailed`. `alone`: see `GroupSync`. */
  synced(alone?: boolean): Promise<void>;
  /** Whether there is room for one more call beside so many `calls`, begun or not, and those begun. */
  accepting(calls?: number): boolean;
  /** Begins a new segment, so that what stands in the one before can be forgotten once it is shipped. Throws when it cannot just now. */
  rotate(): void;
  /** To be called now and then: begins a new segment where rows have stood in the current one for so long. True when it did. */
  rotateWhenOld(ms: number): boolean;
  /**
   * To be called now and then: takes the ballast again that was given up; where the disk is short of room, begins a new segment if that
   * may help. True when it did.
   */
  makeRoom(): boolean;
  /** Forgets segments before the position, whose rows are in the database. */
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
