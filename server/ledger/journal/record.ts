import { crc32 } from "node:zlib";

/**
 * One record of the journal is one line: a type character, CRC-32 of type and payload as 8 hex digits, the payload, a line feed.
 *   H  header of a segment (JSON): its columns, and where chain and checkpoints stand at its beginning
 *   B  begin marker (JSON of a row): what was known of a call when it left for its upstream
 *   R  sealed row (a row's line)
 *   C  checkpoint (JSON)
 */
export type RecordType = "H" | "B" | "R" | "C";

/** Bytes of a record before its payload: type and CRC. */
export const RECORD_PREFIX = 9;

const LF = 10;
const HEX = Buffer.from("0123456789abcdef");
const TYPES = Buffer.from("HBRC");

/** Upper bound on the bytes of a record with this payload. */
export function mostRecordBytes(payload: string): number {
  return payload.length * 3 + RECORD_PREFIX + 1;
}

/**
 * Writes the record at `start`, where there must be room for it, and returns the offset after it. `payload` must not contain a line feed.
 */
export function encodeRecord(target: Buffer, start: number, type: RecordType, payload: string): number {
  const from = start + RECORD_PREFIX;
  const end = from + target.write(payload, from);
  const kind = type.charCodeAt(0);
  let crc = crc32(target.subarray(from, end), kind);
  target[start] = kind;
  for (let i = from - 1; i > start; i--) {
    target[i] = HEX[crc & 15] as number;
    crc >>>= 4;
  }
  target[end] = LF;
  return end + 1;
}

export interface RecordRead {
  readonly type: RecordType;
  readonly payload: Buffer;
  /** Offset just past the record. */
  readonly end: number;
}

/** Reads the record at `offset`: null if its line is incomplete, "damaged" if it is not a valid record. */
export function readRecord(bytes: Buffer, offset: number): RecordRead | "damaged" | null {
  const lf = bytes.indexOf(LF, offset);
  if (lf < 0) return null;
  const kind = bytes[offset] as number;
  if (lf - offset < RECORD_PREFIX || !TYPES.includes(kind)) return "damaged";
  const payload = bytes.subarray(offset + RECORD_PREFIX, lf);
  let crc = crc32(payload, kind);
  for (let i = offset + RECORD_PREFIX - 1; i > offset; i--) {
    if (bytes[i] !== HEX[crc & 15]) return "damaged";
    crc >>>= 4;
  }
  return { type: String.fromCharCode(kind) as RecordType, payload, end: lf + 1 };
}
