import { closeSync, openSync, readSync } from "node:fs";
import { readRecord, RECORD_PREFIX } from "../journal/record.ts";
import type { SegmentHeader } from "../journal/journal-contents.ts";
import { segmentPath, type Position } from "../journal/segments.ts";

/** A section of the journal, ready to be copied into the database, and its end position. */
export interface Shipment {
  /** Row lines, each with its line feed, sent unchanged. */
  readonly rows: readonly Buffer[];
  /** The same lines as one buffer, sharing their memory. */
  readonly text: Buffer;
  /** Columns of the lines. */
  readonly columns: readonly string[];
  /** JSON array of checkpoints. */
  readonly checkpoints: string;
  readonly checkpointCount: number;
  readonly end: Position;
}

export interface ShipmentLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Enough for the header of any release. */
const HEADER_BYTES = 64 * 1024;

/** The columns of a segment's row lines, from its header. Throws if it has none. */
export function segmentColumns(directory: string, segment: number): readonly string[] {
  const path = segmentPath(directory, segment);
  const fd = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(HEADER_BYTES);
    const record = readRecord(buffer.subarray(0, readSync(fd, buffer, 0, HEADER_BYTES, 0)), 0);
    if (record === null || record === "damaged" || record.type !== "H")
      throw new Error(`the audit journal is damaged: ${path} has no header`);
    return (JSON.parse(record.payload.toString()) as SegmentHeader).columns;
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads from `from` towards `stable`, but not beyond the end of the segment, into a buffer from `memory`. Row lines are not parsed, only
 * copied. Null if there is nothing to read. Throws if a record is damaged.
 */
export function readShipment(
  directory: string,
  from: Position,
  stable: Position,
  columns: readonly string[],
  limits: ShipmentLimits,
  memory: (bytes: number) => Buffer,
): Shipment | null {
  const path = segmentPath(directory, from.segment);
  const fd = openSync(path, "r");
  try {
    const atMost = from.segment === stable.segment ? stable.offset - from.offset : Number.POSITIVE_INFINITY;
    if (atMost <= 0) return null;
    for (let window = limits.bytes; ; window *= 2) {
      const wanted = Math.min(window, atMost);
      const buffer = memory(wanted);
      const bytes = buffer.subarray(0, readSync(fd, buffer, 0, wanted, from.offset));
      if (bytes.length === 0)
        return { rows: [], text: bytes, columns, checkpoints: "[]", checkpointCount: 0, end: { segment: from.segment + 1, offset: 0 } };
      const shipment = collect(bytes, from, columns, limits.rows, path);
      if (shipment.end.offset > from.offset) return shipment;
      // The first record is incomplete: it is longer than the window, or damaged if the window was not filled.
      if (bytes.length < window) throw new Error(`the audit journal is damaged: ${path} at byte ${from.offset}`);
    }
  } finally {
    closeSync(fd);
  }
}

function collect(bytes: Buffer, from: Position, columns: readonly string[], maxRows: number, path: string): Shipment {
  const rows: Buffer[] = [];
  const checkpoints: string[] = [];
  let offset = 0;
  let length = 0;
  while (offset < bytes.length && rows.length < maxRows) {
    const record = readRecord(bytes, offset);
    if (record === null) break;
    if (record === "damaged") throw new Error(`the audit journal is damaged: ${path} at byte ${from.offset + offset}`);
    if (record.type === "R") {
      // Moved next to the previous line, so that all lines are sent as one.
      bytes.copyWithin(length, offset + RECORD_PREFIX, record.end);
      const end = length + record.end - offset - RECORD_PREFIX;
      rows.push(bytes.subarray(length, end));
      length = end;
    } else if (record.type === "C") checkpoints.push(record.payload.toString());
    offset = record.end;
  }
  return {
    rows,
    text: bytes.subarray(0, length),
    columns,
    checkpoints: `[${checkpoints.join(",")}]`,
    checkpointCount: checkpoints.length,
    end: { segment: from.segment, offset: from.offset + offset },
  };
}
