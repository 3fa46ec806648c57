import { closeSync, openSync, readSync } from "node:fs";
import type { Log } from "../kernel/log.ts";
import { BALLAST_BYTES, ballastIn } from "./ballast.ts";
import { groupSync } from "./group-sync.ts";
import { encodeRecord, mostRecordBytes, type RecordType } from "./record.ts";
import { segmentPath, type JournalFiles, type Position, type Segment } from "./segments.ts";

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
  /** Written when it returns, so that a process that is killed leaves it. Never refused for lack of room: the call was let in while there was some. Throws `JournalFailed`. */
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
  /** Begins a new segment, so that what stands in the one before can be forgotten once it is shipped. */
  rotate(): void;
  /** To be called now and then: takes the ballast again that was given up; where the disk is short of room, begins a new segment if that may help. True when it did. */
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

interface Marker extends Position {
  readonly length: number;
}

const FIRST_GUESS_OF_ROW_BYTES = 8 * 1024;
const PENDING_BYTES = 256 * 1024;
/** Left on the disk for calls under way and for what a start writes. */
export const KEPT_FREE_BYTES = 16 * 1024 * 1024;
/** What others write to the disk is noticed after this long. */
const FREE_KNOWN_MS = 100;
const WORTH_FREEING_BYTES = 64 * 1024;
const LEAST_TO_ROTATE_BYTES = 1024 * 1024;
const NO_ROOM = new Set(["ENOSPC", "EDQUOT"]);
const UNSYNCED = "the journal could not be brought to stable storage";

/** Begins a new segment; the caller has made sure that no other writer is at work in the directory. */
export function openJournal(options: JournalOptions): Journal {
  const { directory, files, log } = options;
  const sizes = new Map<number, number>(options.existing.map((segment) => [segment.number, segment.size]));
  const markers = new Map<string, Marker>();
  let retired: number[] = [];
  /** Segments whose rows are in the database and whose files are still there, oldest first. */
  const freed: number[] = [];
  let unremoved: number | null = null;
  let newFile = false;
  let fd = -1;
  let segment = 0;
  let size = 0;
  let carried = 0;
  let total = options.existing.reduce((sum, one) => sum + one.size, 0);
  let shippedInFirst = 0;
  let rowBytes = FIRST_GUESS_OF_ROW_BYTES;
  // Records not yet handed to the system. They count as written in every position and size.
  const pending = Buffer.allocUnsafe(PENDING_BYTES);
  let pendingEnd = 0;
  const ballast = ballastIn(directory, files);
  let freeBytes = Number.POSITIVE_INFINITY;
  let freeLookedAt = Number.NEGATIVE_INFINITY;
  let short = false;
  let failed: string | null = null;
  let closed = false;
  let stable: Position = { segment: options.number, offset: 0 };

  function fail(reason: string, error: unknown): void {
    if (failed !== null) return;
    failed = reason;
    log.error("audit_journal_failed", { reason, error: error instanceof Error ? error : String(error) });
  }

  function guard(): void {
    if (failed !== null) throw new JournalFailed(failed);
    if (closed) throw new JournalFailed("the journal is closed");
  }

  function writeSome(bytes: Buffer): number {
    try {
      return files.write(fd, bytes);
    } catch (error) {
      if (!NO_ROOM.has((error as NodeJS.ErrnoException).code ?? "") || !ballast.drop()) throw error;
      freeLookedAt = Number.NEGATIVE_INFINITY;
      return files.write(fd, bytes);
    }
  }

  function writeFile(bytes: Buffer): void {
    let done = 0;
    try {
      while (done < bytes.length) done += writeSome(done === 0 ? bytes : bytes.subarray(done));
    } catch (error) {
      // What was written of the record stays as a torn end, which the next start cuts off.
      fail("a record could not be written", error);
      throw new JournalFailed("a record could not be written", { cause: error });
    }
  }

  function writePending(): void {
    if (pendingEnd === 0) return;
    const bytes = pending.subarray(0, pendingEnd);
    pendingEnd = 0;
    writeFile(bytes);
  }

  function grew(bytes: number): void {
    size += bytes;
    total += bytes;
    freeBytes -= bytes;
    sizes.set(segment, size);
  }

  /** Returns the record's bytes. */
  function record(type: RecordType, payload: string): number {
    const room = mostRecordBytes(payload);
    if (pendingEnd + room > pending.length) writePending();
    if (room > pending.length) {
      const own = Buffer.allocUnsafe(room);
      const length = encodeRecord(own, 0, type, payload);
      writeFile(own.subarray(0, length));
      return length;
    }
    const start = pendingEnd;
    pendingEnd = encodeRecord(pending, start, type, payload);
    return pendingEnd - start;
  }

  function beginSegment(number: number): void {
    try {
      fd = files.create(segmentPath(directory, number));
    } catch (error) {
      fail("a segment could not be created", error);
      throw new JournalFailed("a segment could not be created", { cause: error });
    }
    newFile = true;
    segment = number;
    size = 0;
    grew(record("H", options.header()));
    writePending();
  }

  /** Open begin markers move on with the writer, so that no old segment is kept for the sake of one long call. */
  function rotate(): void {
    const previous = segment;
    writePending();
    retired.push(fd);
    beginSegment(previous + 1);
    const readers = new Map<number, number>();
    try {
      for (const [id, marker] of markers) {
        let reader = readers.get(marker.segment);
        if (reader === undefined) readers.set(marker.segment, (reader = openSync(segmentPath(directory, marker.segment), "r")));
        const bytes = Buffer.allocUnsafe(marker.length);
        if (readSync(reader, bytes, 0, marker.length, marker.offset) !== marker.length)
          throw new Error("a begin marker could not be read back");
        const offset = size;
        writeFile(bytes);
        grew(marker.length);
        markers.set(id, { segment, offset, length: marker.length });
      }
    } catch (error) {
      fail("begin markers could not be carried into a new segment", error);
      throw error instanceof JournalFailed ? error : new JournalFailed("a segment could not be begun", { cause: error });
    } finally {
      for (const reader of readers.values()) closeSync(reader);
    }
    carried = size;
  }

  function append(type: RecordType, payload: string): Marker {
    guard();
    const offset = size;
    const length = record(type, payload);
    grew(length);
    return { segment, offset, length };
  }

  function rotateWhenFull(): void {
    if (size - carried >= options.segmentBytes) rotate();
  }

  const syncFile = (file: number) =>
    new Promise<void>((resolve, reject) => files.sync(file, (error) => (error ? reject(error) : resolve())));

  function syncNow(): void {
    guard();
    writePending();
    try {
      files.syncNow(fd);
    } catch (error) {
      fail(UNSYNCED, error);
      throw new JournalFailed(UNSYNCED, { cause: error });
    }
    stable = { segment, offset: size };
  }

  const sync = groupSync(
    async () => {
      guard();
      writePending();
      const target: Position = { segment, offset: size };
      const ended = retired;
      const current = fd;
      const isNew = newFile;
      retired = [];
      newFile = false;
      try {
        for (const file of ended) {
          await syncFile(file);
          files.close(file);
        }
        await syncFile(current);
        if (isNew) files.syncDirectory(directory);
      } catch (error) {
        fail(UNSYNCED, error);
        throw new JournalFailed(UNSYNCED, { cause: error });
      }
      // A record that could not be written in the meantime does not take back what was stored before it.
      stable = target;
    },
    syncNow,
    () => performance.now(),
  );

  const unshipped = () => Math.max(0, total - shippedInFirst);

  function accepting(calls = 0): boolean {
    if (failed !== null || closed) return false;
    const coming = comingBytes(calls);
    const spare = spareBytes();
    // Told of once, also while calls take what is freed: it is over when there is more than a moment's room.
    if (short ? spare >= coming + BALLAST_BYTES : spare < coming) noteShort(!short);
    return spare >= coming && unshipped() + coming <= options.maxBytes;
  }

  /** What one more call, and those under way, may come to: by twice what rows have measured of late. */
  const comingBytes = (calls: number) => (Math.max(calls, markers.size) + 1) * 2 * rowBytes;

  /** Bytes of the disk beyond those that are kept; less than none when it is short of room. */
  function spareBytes(): number {
    const now = performance.now();
    if (now - freeLookedAt >= FREE_KNOWN_MS) {
      freeLookedAt = now;
      freeBytes = files.free(directory);
    }
    return freeBytes - KEPT_FREE_BYTES;
  }

  function noteShort(isShort: boolean): void {
    short = isShort;
    if (short) log.error("audit_journal_disk_full", { directory, free_bytes: freeBytes, kept_free_bytes: KEPT_FREE_BYTES });
    else log.info("audit_journal_disk_has_room", { free_bytes: freeBytes });
  }

  /** Oldest first and none beyond one that stays: a start takes a gap between segments for rows that were lost. */
  function removeFreed(): void {
    for (let number = freed[0]; number !== undefined; number = freed[0]) {
      try {
        files.remove(segmentPath(directory, number));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
          if (unremoved !== number)
            log.warn("audit_segment_not_removed", { segment: number, error: error instanceof Error ? error : String(error) });
          unremoved = number;
          return;
        }
      }
      freed.shift();
    }
  }

  ballast.take();
  beginSegment(options.number);
  carried = size;

  return {
    begin(id, payload) {
      const marker = append("B", payload);
      writePending();
      markers.set(id, marker);
      rotateWhenFull();
    },
    seal(id, line) {
      const { length } = append("R", line);
      markers.delete(id);
      rowBytes += (length - rowBytes) / 64;
      rotateWhenFull();
    },
    checkpoint(json) {
      append("C", json);
      rotateWhenFull();
    },
    write() {
      guard();
      writePending();
    },
    synced(alone = false) {
      if (failed !== null) return Promise.reject(new JournalFailed(failed));
      if (stable.segment === segment && stable.offset === size) return Promise.resolve();
      // A file that is new or over has more to it than its own bytes.
      return sync.synced(alone && retired.length === 0 && !newFile);
    },
    accepting,
    rotate() {
      guard();
      rotate();
    },
    makeRoom() {
      if (failed !== null || closed) return false;
      const spare = spareBytes() - comingBytes(0);
      if (spare >= BALLAST_BYTES) ballast.take();
      // A disk with nothing left takes no segment either.
      if (spare >= 0 || freeBytes < LEAST_TO_ROTATE_BYTES || size - carried < WORTH_FREEING_BYTES) return false;
      rotate();
      return true;
    },
    free(shipped) {
      for (const [number, bytes] of sizes) {
        if (number >= shipped.segment || number === segment) continue;
        sizes.delete(number);
        total -= bytes;
        freed.push(number);
      }
      removeFreed();
      shippedInFirst = shipped.offset;
    },
    fail,
    close() {
      if (closed) return;
      if (failed === null) writePending();
      closed = true;
      for (const file of new Set([...retired, fd])) files.close(file);
    },
    get written() {
      return { segment, offset: size };
    },
    get stable() {
      return stable;
    },
    get failed() {
      return failed;
    },
    get openCalls() {
      return markers.size;
    },
    get unshippedBytes() {
      return unshipped();
    },
    get syncs() {
      return sync.syncs;
    },
    get syncMs() {
      return sync.totalMs;
    },
  };
}
