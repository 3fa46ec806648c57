import type { DiskRoom } from "./disk-room.ts";
import type { JournalState } from "./journal-state.ts";
import { encodeRecord, mostRecordBytes, type RecordType } from "./record.ts";
import type { JournalFiles } from "./segments.ts";

const PENDING_BYTES = 256 * 1024;
const NO_ROOM = new Set(["ENOSPC", "EDQUOT"]);

/** Writes records to the current segment file, buffering those that nobody waits for. */
export class RecordWriter {
  fd = -1;
  private readonly files: JournalFiles;
  private readonly state: JournalState;
  private readonly room: DiskRoom;
  // Records not written yet. Positions and sizes already include them.
  private readonly pending = Buffer.allocUnsafe(PENDING_BYTES);
  private pendingEnd = 0;

  constructor(files: JournalFiles, state: JournalState, room: DiskRoom) {
    this.files = files;
    this.state = state;
    this.room = room;
  }

  /** Returns the record's size in bytes. */
  record(type: RecordType, payload: string): number {
    const { pending } = this;
    const room = mostRecordBytes(payload);
    if (this.pendingEnd + room > pending.length) this.flush();
    if (room > pending.length) {
      const own = Buffer.allocUnsafe(room);
      const length = encodeRecord(own, 0, type, payload);
      this.write(own.subarray(0, length));
      return length;
    }
    const start = this.pendingEnd;
    this.pendingEnd = encodeRecord(pending, start, type, payload);
    return this.pendingEnd - start;
  }

  flush(): void {
    if (this.pendingEnd === 0) return;
    const bytes = this.pending.subarray(0, this.pendingEnd);
    this.pendingEnd = 0;
    this.write(bytes);
  }

  /** Writes directly, bypassing the buffer. */
  write(bytes: Buffer): void {
    let done = 0;
    try {
      while (done < bytes.length) done += this.writeSome(done === 0 ? bytes : bytes.subarray(done));
    } catch (error) {
      // A partly written record remains as a torn end, which the next start cuts off.
      throw this.state.failure("a record could not be written", error);
    }
  }

  private writeSome(bytes: Buffer): number {
    try {
      return this.files.write(this.fd, bytes);
    } catch (error) {
      if (!NO_ROOM.has((error as NodeJS.ErrnoException).code ?? "") || !this.room.dropBallast()) throw error;
      return this.files.write(this.fd, bytes);
    }
  }
}
