import type { Log } from "../../kernel/log.ts";
import { segmentPath, type JournalFiles, type Position, type Segment } from "./segments.ts";

/** The journal's segment files: how many bytes wait for the database, and which files may be deleted. */
export class RetainedSegments {
  private readonly directory: string;
  private readonly files: JournalFiles;
  private readonly log: Log;
  private readonly sizes: Map<number, number>;
  private total: number;
  private shippedInFirst = 0;
  /** Segments whose rows are in the database but whose files still exist, oldest first. */
  private readonly freed: number[] = [];
  private unremoved: number | null = null;

  constructor(directory: string, files: JournalFiles, log: Log, existing: readonly Segment[]) {
    this.directory = directory;
    this.files = files;
    this.log = log;
    this.sizes = new Map(existing.map((segment) => [segment.number, segment.size]));
    this.total = existing.reduce((sum, one) => sum + one.size, 0);
  }

  get unshippedBytes(): number {
    return Math.max(0, this.total - this.shippedInFirst);
  }

  /** A segment grew by `bytes` to `size`. */
  grew(segment: number, size: number, bytes: number): void {
    this.total += bytes;
    this.sizes.set(segment, size);
  }

  /** Deletes segments before the position, but never the `current` one. */
  free(shipped: Position, current: number): void {
    for (const [number, bytes] of this.sizes) {
      if (number >= shipped.segment || number === current) continue;
      this.sizes.delete(number);
      this.total -= bytes;
      this.freed.push(number);
    }
    this.removeFreed();
    this.shippedInFirst = shipped.offset;
  }

  /** Oldest first, stopping at a file that cannot be deleted: a start would take a gap between segments for lost rows. */
  private removeFreed(): void {
    const { freed } = this;
    for (let number = freed[0]; number !== undefined; number = freed[0]) {
      try {
        this.files.remove(segmentPath(this.directory, number));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
          if (this.unremoved !== number)
            this.log.warn("audit_segment_not_removed", { segment: number, error: error instanceof Error ? error : String(error) });
          this.unremoved = number;
          return;
        }
      }
      freed.shift();
    }
  }
}
