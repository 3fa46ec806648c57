import type { Log } from "../../kernel/log.ts";
import { BALLAST_BYTES, ballastIn, type Ballast } from "./ballast.ts";
import type { JournalFiles } from "./segments.ts";

/** Kept free on the disk for calls in progress and for what a start writes. */
export const MIN_FREE_BYTES = 16 * 1024 * 1024;
/** How long a reading of the free space is used before other processes' writes are checked for again. */
const FREE_KNOWN_MS = 100;

/** The free space of the journal's disk, and the ballast file that is deleted when there is none. */
export class DiskRoom {
  /** As last read, less what was written since. */
  freeBytes = Number.POSITIVE_INFINITY;
  private checkedAt = Number.NEGATIVE_INFINITY;
  private short = false;
  private readonly ballast: Ballast;
  private readonly directory: string;
  private readonly files: JournalFiles;
  private readonly log: Log;

  constructor(directory: string, files: JournalFiles, log: Log) {
    this.directory = directory;
    this.files = files;
    this.log = log;
    this.ballast = ballastIn(directory, files);
    this.ballast.take();
  }

  /** Bytes free beyond what is kept free; negative when the disk is short. */
  spareBytes(): number {
    const now = performance.now();
    if (now - this.checkedAt >= FREE_KNOWN_MS) {
      this.checkedAt = now;
      this.freeBytes = this.files.free(this.directory);
    }
    return this.freeBytes - MIN_FREE_BYTES;
  }

  /** Whether the disk has room for `coming` bytes. */
  hasRoomFor(coming: number): boolean {
    const spare = this.spareBytes();
    // Logged once per shortage, even while calls use up what is freed: it ends only when there is ample room again.
    if (this.short ? spare >= coming + BALLAST_BYTES : spare < coming) this.noteShort(!this.short);
    return spare >= coming;
  }

  /** False if there is no ballast left to release. */
  dropBallast(): boolean {
    if (!this.ballast.drop()) return false;
    this.checkedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Reserves the ballast again if `spare` bytes allow it. */
  takeBallast(spare: number): void {
    if (spare >= BALLAST_BYTES) this.ballast.take();
  }

  private noteShort(isShort: boolean): void {
    const { directory, freeBytes, log } = this;
    this.short = isShort;
    if (isShort) log.error("audit_journal_disk_full", { directory, free_bytes: freeBytes, kept_free_bytes: MIN_FREE_BYTES });
    else log.info("audit_journal_disk_has_room", { free_bytes: freeBytes });
  }
}
