import type { Log } from "../../kernel/log.ts";
import { BALLAST_BYTES, ballastIn, type Ballast } from "./ballast.ts";
import type { JournalFiles } from "./segments.ts";

/** Left on the disk for calls under way and for what a start writes. */
export const KEPT_FREE_BYTES = 16 * 1024 * 1024;
/** What others write to the disk is noticed after this long. */
const FREE_KNOWN_MS = 100;

/** The space left on the journal's disk, and the ballast file that is deleted when there is none. */
export class DiskRoom {
  /** As of the last look, less what was written since. */
  freeBytes = Number.POSITIVE_INFINITY;
  private lookedAt = Number.NEGATIVE_INFINITY;
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

  /** Bytes of the disk beyond those that are kept; less than none when it is short of room. */
  spareBytes(): number {
    const now = performance.now();
    if (now - this.lookedAt >= FREE_KNOWN_MS) {
      this.lookedAt = now;
      this.freeBytes = this.files.free(this.directory);
    }
    return this.freeBytes - KEPT_FREE_BYTES;
  }

  /** Whether the disk has room for what is `coming`. */
  hasRoomFor(coming: number): boolean {
    const spare = this.spareBytes();
    // Told of once, also while calls take what is freed: it is over when there is more than a moment's room.
    if (this.short ? spare >= coming + BALLAST_BYTES : spare < coming) this.noteShort(!this.short);
    return spare >= coming;
  }

  /** False when there is no ballast left to give up. */
  dropBallast(): boolean {
    if (!this.ballast.drop()) return false;
    this.lookedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Takes the ballast again where `spare` bytes allow it. */
  takeBallast(spare: number): void {
    if (spare >= BALLAST_BYTES) this.ballast.take();
  }

  private noteShort(isShort: boolean): void {
    const { directory, freeBytes, log } = this;
    this.short = isShort;
    if (isShort) log.error("audit_journal_disk_full", { directory, free_bytes: freeBytes, kept_free_bytes: KEPT_FREE_BYTES });
    else log.info("audit_journal_disk_has_room", { free_bytes: freeBytes });
  }
}
