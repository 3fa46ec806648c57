import { DiskRoom } from "./disk-room.ts";
import { groupSync, type GroupSync } from "./group-sync.ts";
import { JournalState } from "./journal-state.ts";
import { JournalFailed, type Journal, type JournalOptions } from "./journal.ts";
import { RetainedSegments } from "./journal-segments.ts";
import { OpenMarkers, type Marker } from "./open-markers.ts";
import { RecordWriter } from "./record-writer.ts";
import type { RecordType } from "./record.ts";
import { segmentPath, type Position } from "./segments.ts";

const FIRST_GUESS_OF_ROW_BYTES = 8 * 1024;
const WORTH_FREEING_BYTES = 64 * 1024;
const MIN_TO_ROTATE_BYTES = 1024 * 1024;
const UNCREATED = "a segment could not be created";
const UNSYNCED = "the journal could not be brought to stable storage";

/** The process or the machine is out of file descriptors. */
const NO_FILES = new Set(["EMFILE", "ENFILE"]);

/** Begins a new segment. The caller must have ensured that no other writer uses the directory. */
export function openJournal(options: JournalOptions): Journal {
  return new SegmentJournal(options);
}

class SegmentJournal implements Journal {
  stable: Position;
  private readonly options: JournalOptions;
  private readonly state: JournalState;
  private readonly room: DiskRoom;
  private readonly segments: RetainedSegments;
  private readonly markers: OpenMarkers;
  private readonly writer: RecordWriter;
  private readonly sync: GroupSync;
  /** File descriptors of closed segments that are not on stable storage yet. */
  private retired: number[] = [];
  private newFile = false;
  /** Directory handle, kept open so that the current segment can be synced even if the process runs out of file descriptors. */
  private readonly place: number;
  private delayed = false;
  private segment = 0;
  private size = 0;
  /** Size of the segment after its header and carried markers were written. */
  private carried: number;
  private holdsRows = false;
  /** When rows were first seen in the segment; null if they were not yet. */
  private rowsSeenAt: number | null = null;
  private rowBytes = FIRST_GUESS_OF_ROW_BYTES;

  constructor(options: JournalOptions) {
    const { directory, files, log, existing, number } = options;
    this.options = options;
    this.state = new JournalState(log);
    this.room = new DiskRoom(directory, files, log);
    this.segments = new RetainedSegments(directory, files, log, existing);
    this.markers = new OpenMarkers(directory);
    this.writer = new RecordWriter(files, this.state, this.room);
    this.stable = { segment: number, offset: 0 };
    this.sync = groupSync(
      () => this.syncAll(),
      () => this.syncNow(),
      () => performance.now(),
    );
    this.place = files.openDirectory(directory);
    try {
      this.beginSegment(number, files.create(segmentPath(directory, number)));
    } catch (error) {
      files.close(this.place);
      throw error instanceof JournalFailed ? error : this.state.failure(UNCREATED, error);
    }
    this.carried = this.size;
  }

  get written(): Position {
    return { segment: this.segment, offset: this.size };
  }

  get failed(): string | null {
    return this.state.failed;
  }

  get openCalls(): number {
    return this.markers.size;
  }

  get unshippedBytes(): number {
    return this.segments.unshippedBytes;
  }

  get syncs(): number {
    return this.sync.syncs;
  }

  get syncMs(): number {
    return this.sync.totalMs;
  }

  begin(id: string, payload: string): void {
    const marker = this.append("B", payload);
    this.writer.flush();
    this.markers.add(id, marker);
    this.rotateWhenFull();
  }

  seal(id: string, line: string): void {
    const { length } = this.append("R", line);
    this.markers.sealed(id);
    this.holdsRows = true;
    this.rowBytes += (length - this.rowBytes) / 64;
    this.rotateWhenFull();
  }

  checkpoint(json: string): void {
    this.append("C", json);
    this.rotateWhenFull();
  }

  write(): void {
    this.state.guard();
    this.writer.flush();
  }

  synced(alone = false): Promise<void> {
    if (this.state.failed !== null) return Promise.reject(new JournalFailed(this.state.failed));
    if (this.stable.segment === this.segment && this.stable.offset === this.size) return Promise.resolve();
    // New or retired files need more than a sync of the current file.
    return this.sync.synced(alone && this.retired.length === 0 && !this.newFile);
  }

  accepting(calls = 0): boolean {
    if (!this.state.usable) return false;
    const coming = this.comingBytes(calls);
    return this.room.hasRoomFor(coming) && this.segments.unshippedBytes + coming <= this.options.maxBytes;
  }

  rotate(): void {
    this.state.guard();
    if (!this.beginNext()) throw new Error("the journal has no file for a new segment just now");
  }

  rotateWhenOld(ms: number): boolean {
    if (!this.state.usable || !this.holdsRows) return false;
    const now = performance.now();
    this.rowsSeenAt ??= now;
    return now - this.rowsSeenAt >= ms && this.beginNext();
  }

  makeRoom(): boolean {
    if (!this.state.usable) return false;
    const spare = this.room.spareBytes() - this.comingBytes(0);
    this.room.takeBallast(spare);
    // A full disk has no room for a new segment either.
    if (spare >= 0 || this.room.freeBytes < MIN_TO_ROTATE_BYTES || this.size - this.carried < WORTH_FREEING_BYTES) return false;
    return this.beginNext();
  }

  free(shipped: Position): void {
    this.segments.free(shipped, this.segment);
  }

  fail(reason: string, error: unknown): void {
    this.state.fail(reason, error);
  }

  close(): void {
    if (this.state.closed) return;
    if (this.state.failed === null) this.writer.flush();
    this.state.closed = true;
    for (const file of new Set([...this.retired, this.writer.fd, this.place])) this.options.files.close(file);
  }

  /** Estimated bytes of one more call and those in progress: twice the recent average row size each. */
  private comingBytes(calls: number): number {
    return (Math.max(calls, this.markers.size) + 1) * 2 * this.rowBytes;
  }

  private grew(bytes: number): void {
    this.size += bytes;
    this.room.freeBytes -= bytes;
    this.segments.grew(this.segment, this.size, bytes);
  }

  private append(type: RecordType, payload: string): Marker {
    this.state.guard();
    const offset = this.size;
    const length = this.writer.record(type, payload);
    this.grew(length);
    return { segment: this.segment, offset, length };
  }

  private beginSegment(number: number, file: number): void {
    this.writer.fd = file;
    this.newFile = true;
    this.holdsRows = false;
    this.rowsSeenAt = null;
    this.segment = number;
    this.size = 0;
    this.grew(this.writer.record("H", this.options.header()));
    this.writer.flush();
  }

  /** Null if no file can be opened right now: the current segment continues, and creation is retried later. */
  private createNext(): { readonly file: number; readonly markers: ReadonlyMap<string, Buffer> } | null {
    const { directory, files, log } = this.options;
    try {
      // Read markers before creating the file: the last available descriptor then serves both in turn.
      const markers = this.markers.read();
      const file = files.create(segmentPath(directory, this.segment + 1));
      this.delayed = false;
      return { file, markers };
    } catch (error) {
      if (!NO_FILES.has((error as { code?: string }).code ?? "")) throw this.state.failure(UNCREATED, error);
      if (!this.delayed) log.warn("audit_journal_segment_delayed", { error: error as Error });
      this.delayed = true;
      return null;
    }
  }

  /** False if no new segment could be created right now. */
  private beginNext(): boolean {
    this.writer.flush();
    const next = this.createNext();
    if (next === null) return false;
    this.retired.push(this.writer.fd);
    this.beginSegment(this.segment + 1, next.file);
    try {
      this.markers.carry(next.markers, (bytes) => this.carry(bytes));
    } catch (error) {
      this.state.fail("begin markers could not be carried into a new segment", error);
      throw error instanceof JournalFailed ? error : new JournalFailed("a segment could not be begun", { cause: error });
    }
    this.carried = this.size;
    return true;
  }

  private carry(bytes: Buffer): Marker {
    const offset = this.size;
    this.writer.write(bytes);
    this.grew(bytes.length);
    return { segment: this.segment, offset, length: bytes.length };
  }

  private rotateWhenFull(): void {
    if (this.size - this.carried >= this.options.segmentBytes) this.beginNext();
  }

  private syncNow(): void {
    this.state.guard();
    this.writer.flush();
    try {
      this.options.files.syncNow(this.writer.fd);
    } catch (error) {
      throw this.state.failure(UNSYNCED, error);
    }
    this.stable = this.written;
  }

  private syncFile(file: number): Promise<void> {
    return new Promise((resolve, reject) => this.options.files.sync(file, (error) => (error ? reject(error) : resolve())));
  }

  private async syncAll(): Promise<void> {
    const { files } = this.options;
    this.state.guard();
    this.writer.flush();
    const target = this.written;
    const ended = this.retired;
    const current = this.writer.fd;
    const isNew = this.newFile;
    this.retired = [];
    this.newFile = false;
    try {
      for (const file of ended) {
        await this.syncFile(file);
        files.close(file);
      }
      await this.syncFile(current);
      if (isNew) files.syncDirectory(this.place);
    } catch (error) {
      throw this.state.failure(UNSYNCED, error);
    }
    // A write that failed in the meantime does not affect what this sync stored.
    this.stable = target;
  }
}
