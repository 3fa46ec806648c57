import { isTimestamp } from "@gatehouse/ledger-format/canonical";
import { FIELDS, type AuditRow, type FieldName, type FieldType } from "@gatehouse/ledger-format/fields";
import { isoMicros } from "../kernel/clock.ts";

// The chain sets these itself.
const CHAIN_FIELDS: readonly string[] = ["chain_id", "chain_seq", "prev_hash", "row_hash"];

const TYPES: Readonly<Record<string, FieldType>> = Object.assign(
  Object.create(null) as Record<string, FieldType>,
  Object.fromEntries(Object.entries(FIELDS).filter(([name]) => !CHAIN_FIELDS.includes(name)).map(([name, field]) => [name, field.type])),
);

// Serialised NUL and lone surrogates; also matches texts that merely spell such an escape, which only costs a second look.
const UNSTORABLE = ["\\u0000", "\\ud"];

const ID = /^[0-9A-Za-z_-]{1,64}$/;

/** A row as it may be stored: known fields of their own types, no nulls, `id` first, and its JSON. */
export interface CleanRow {
  readonly row: AuditRow;
  /** JSON object of `row`. Readers of the journal rely on it beginning with `{"id":"`. */
  readonly json: string;
}

/**
 * Makes a row storable without ever refusing it: PostgreSQL holds neither NUL characters nor lone surrogates, and what
 * is hashed must be what is stored. Values of a wrong type become absent. Throws `TypeError` when the row has no id.
 */
export function cleanRow(row: AuditRow): CleanRow {
  if (typeof row.id !== "string" || !ID.test(row.id)) throw new TypeError("an audit row needs an id of its own");
  const clean: Record<string, unknown> = { id: row.id };
  for (const name in row) {
    const value: unknown = row[name as FieldName];
    if (value === null || value === undefined || name === "id") continue;
    const type = TYPES[name];
    if (type === undefined) continue;
    const kept = ofType(type, value);
    if (kept !== null) clean[name] = kept;
  }
  let json = stringify(clean);
  if (UNSTORABLE.some((escape) => json.includes(escape))) {
    for (const name of Object.keys(clean)) clean[name] = storable(clean[name]);
    json = JSON.stringify(clean);
  }
  return { row: clean as AuditRow, json };
}

function ofType(type: FieldType, value: unknown): unknown {
  switch (type) {
    case "text":
      return typeof value === "string" ? value : String(value);
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "integer": {
      if (Number.isSafeInteger(value)) return value;
      const rounded = Math.round(Number(value));
      return typeof value === "number" && Number.isSafeInteger(rounded) ? rounded : null;
    }
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? value : null;
    case "timestamp": {
      if (isTimestamp(value)) return value;
      const millis = typeof value === "string" ? Date.parse(value) : Number.NaN;
      return Number.isNaN(millis) ? null : isoMicros(millis * 1000);
    }
    case "json":
      return value;
  }
}

/** A json field that cannot be serialised (a cycle, a BigInt) is left out rather than costing the row. */
function stringify(clean: Record<string, unknown>): string {
  try {
    return JSON.stringify(clean);
  } catch {
    for (const [name, value] of Object.entries(clean)) {
      if (typeof value !== "object") continue;
      try {
        JSON.stringify(value);
      } catch {
        delete clean[name];
      }
    }
    return JSON.stringify(clean);
  }
}

const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

function storable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (typeof value !== "object" || value === null) return value;
  // Through JSON first, so that only plain values are walked.
  return walk(JSON.parse(JSON.stringify(value)));
}

function walk(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), walk(inner)]));
}
