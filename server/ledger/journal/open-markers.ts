import { closeSync, openSync, readSync } from "node:fs";
import { ShortLivedMap } from "../../kernel/collections/short-lived-map.ts";
import { segmentPath, type Position } from "./segments.ts";

/** The position of a begin marker. */
export interface Marker extends Position {
  readonly length: number;
}

/** The begin markers of calls whose rows are not sealed yet. */
export class OpenMarkers {
  private readonly markers = new ShortLivedMap<string, Marker>();
  private readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  get size(): number {
    return this.markers.size;
  }

  add(id: string, marker: Marker): void {
    this.markers.set(id, marker);
  }

  sealed(id: string): void {
    this.markers.delete(id);
  }

  /** The bytes of all open markers, by call ID. */
  read(): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    const readers = new Map<number, number>();
    try {
      for (const [id, marker] of this.markers.entries()) {
        let reader = readers.get(marker.segment);
        if (reader === undefined) readers.set(marker.segment, (reader = openSync(segmentPath(this.directory, marker.segment), "r")));
        const bytes = Buffer.allocUnsafe(marker.length);
        if (readSync(reader, bytes, 0, marker.length, marker.offset) !== marker.length)
          throw new Error("a begin marker could not be read back");
        found.set(id, bytes);
      }
      return found;
    } finally {
      for (const reader of readers.values()) closeSync(reader);
    }
  }

  /** Copies open begin markers to the new segment, so that no old segment is kept for one long call. */
  carry(found: ReadonlyMap<string, Buffer>, write: (bytes: Buffer) => Marker): void {
    for (const [id, bytes] of found) this.markers.set(id, write(bytes));
  }
}
