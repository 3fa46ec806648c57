import { hash } from "node:crypto";
import type { AuditRow } from "./fields.ts";
import { HASH_FORMATS, V2_FIELDS, type HashFormat } from "./hash-formats.ts";

/** `prev_hash` of the first row of a chain. */
export const GENESIS_HASH = "0".repeat(64);

/** A row contains a value that has no canonical bytes; the message names the field. */
export class NotCanonical extends Error {}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const HASH = /^[0-9a-f]{64}$/;

/** Whether `value` is the lower-case hex of 32 bytes, the only valid form of a hash. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/** Whether `value` is ISO 8601 UTC with exactly six decimals, the only valid form of a timestamp. */
export function isTimestamp(value: unknown): value is string {
  return typeof value === "string" && TIMESTAMP.test(value);
}

/**
 * The canonical text of a row: RFC 8785 JSON of `[format tag, field, field, ...]` with null for absent fields. The row hash covers its
 * UTF-8 bytes. Throws `NotCanonical`.
 */
export function canonicalText(row: AuditRow, format: HashFormat): string {
  const fields = HASH_FORMATS[format];
  let text = `["${format}"`;
  for (let i = 0; i < fields.length; i++) {
    const name = fields[i] as (typeof fields)[number];
    const value = row[name];
    if (value === null || value === undefined) {
      text += ",null";
    } else if (typeof value === "string") {
      if (name === "timestamp" && !TIMESTAMP.test(value)) throw new NotCanonical("timestamp is not ISO 8601 UTC with six decimals");
      if (PLAIN.test(value)) {
        text += `,"${value}"`;
        continue;
      }
      // A lone surrogate has no UTF-8 encoding, so two different rows would get the same hash.
      if (!value.isWellFormed()) throw new NotCanonical(`${name} is not well-formed Unicode`);
      // For strings, JSON.stringify produces exactly what RFC 8785 requires.
      text += `,${JSON.stringify(value)}`;
    } else if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new NotCanonical(`${name} is not a safe integer`);
      // -0 is written as 0.
      text += `,${value}`;
    } else if (typeof value === "boolean") {
      text += value ? ",true" : ",false";
    } else {
      throw new NotCanonical(`${name} is not a scalar`);
    }
  }
  return `${text}]`;
}

/** Printable ASCII without quote and backslash needs no escaping; skipping JSON.stringify for it saves time. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * Lower-case hex SHA-256 of the canonical bytes followed by the 32 raw bytes of `prevHash` (hex). The fixed length of
 * the tail keeps the concatenation unambiguous. Throws `NotCanonical`.
 */
export function rowHash(row: AuditRow, format: HashFormat, prevHash: string): string {
  if (!HASH.test(prevHash)) throw new NotCanonical("prev_hash is not 64 lower-case hex digits");
  const text = canonicalText(row, format);
  const bytes = text.length * 3 + 32 <= scratch.length ? scratch : Buffer.allocUnsafe(text.length * 3 + 32);
  const end = bytes.write(text);
  bytes.write(prevHash, end, "hex");
  return hash("sha256", bytes.subarray(0, end + 32), "hex");
}

// Reused for every row, because hashing is on the path of every call.
const scratch = Buffer.allocUnsafe(16 * 1024);

/**
 * Every hash the row could have been sealed with, given its own prev_hash: v2, and v1 only if it has none of the fields added by v2
 * (otherwise these could be edited by claiming the older format). Empty if the row has no canonical bytes.
 */
export function possibleHashes(row: AuditRow): string[] {
  const prevHash = row.prev_hash;
  if (!isHash(prevHash)) return [];
  try {
    const v2 = rowHash(row, "v2", prevHash);
    if (v2 === row.row_hash) return [v2];
    return V2_FIELDS.some((name) => row[name] !== null && row[name] !== undefined) ? [v2] : [v2, rowHash(row, "v1", prevHash)];
  } catch (error) {
    if (error instanceof NotCanonical) return [];
    throw error;
  }
}

/**
 * A fingerprint of values without canonical bytes, so that changes to them are still noticed. It must never be accepted as the hash they
 * were sealed with: it proves nothing about the previous row.
 */
export const contentMark = (values: readonly unknown[]): string => `uncanonical ${hash("sha256", JSON.stringify(values), "hex")}`;

export const rowMark = (row: AuditRow): string => contentMark([row.prev_hash, ...HASH_FORMATS.v2.map((name) => row[name] ?? null)]);
