import { closeSync, openSync, readSync } from "node:fs";
import { readRecord } from "./record.ts";
import { segmentPath, type Position } from "./segments.ts";

/** A stretch of the journal as the database takes it: JSON arrays, and where the stretch ends. */
export interface Shipment {
  /** JSON array of `rowCount` rows. */
  readonly rows: Buffer;
  readonly rowCount: number;
  /** JSON array of checkpoints. */
  readonly checkpoints: Buffer;
  readonly checkpointCount: number;
  /** JSON of the last row, null when there is none. */
  readonly lastRow: Buffer | null;
  readonly end: Position;
}

export interface ShipmentLimits {
  readonly rows: number;
  readonly bytes: number;
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

function jsonArray(items: readonly Buffer[]): Buffer {
  if (items.length === 0) return Buffer.from("[]");
  const parts: Buffer[] = [OPEN];
  for (const [index, item] of items.entries()) parts.push(...(index === 0 ? [item] : [COMMA, item]));
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

/**
 * Reads from `from` towards `stable`, at most to the end of a segment. Records are not parsed: their JSON is copied as
 * it stands. Null when there is nothing to read. Throws when a record is no longer what was written.
 */
export function readShipment(directory: string, from: Position, stable: Position, limits: ShipmentLimits): Shipment | null {
  const path = segmentPath(directory, from.segment);
  const fd = openSync(path, "r");
  try {
    const atMost = from.segment === stable.segment ? stable.offset - from.offset : Number.POSITIVE_INFINITY;
    if (atMost <= 0) return null;
    for (let window = limits.bytes; ; window *= 2) {
      const wanted = Math.min(window, atMost);
      const buffer = Buffer.allocUnsafe(wanted);
      const bytes = buffer.subarray(0, readSync(fd, buffer, 0, wanted, from.offset));
      if (bytes.length === 0) return emptyShipment({ segment: from.segment + 1, offset: 0 });
      const shipment = collect(bytes, from, limits.rows, path);
      if (shipment.end.offset > from.offset) return shipment;
      // The first record is longer than the window.
      if (bytes.length < window) throw new Error(`the audit journal is damaged: ${path} at byte ${from.offset}`);
    }
  } finally {
    closeSync(fd);
  }
}

function emptyShipment(end: Position): Shipment {
  return { rows: jsonArray([]), rowCount: 0, checkpoints: jsonArray([]), checkpointCount: 0, lastRow: null, end };
}

function collect(bytes: Buffer, from: Position, maxRows: number, path: string): Shipment {
  const rows: Buffer[] = [];
  const checkpoints: Buffer[] = [];
  let offset = 0;
  while (offset < bytes.length && rows.length < maxRows) {
    const record = readRecord(bytes, offset);
    if (record === null) break;
    if (record === "damaged") throw new Error(`the audit journal is damaged: ${path} at byte ${from.offset + offset}`);
    if (record.type === "R") rows.push(record.payload);
    else if (record.type === "C") checkpoints.push(record.payload);
    offset = record.end;
  }
  return {
    rows: jsonArray(rows),
    rowCount: rows.length,
    checkpoints: jsonArray(checkpoints),
    checkpointCount: checkpoints.length,
    lastRow: rows.at(-1) ?? null,
    end: { segment: from.segment, offset: from.offset + offset },
  };
}
