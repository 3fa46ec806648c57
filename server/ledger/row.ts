import { isTimestamp } from "@gatehouse/ledger-format/canonical";
import { FIELDS, type AuditRow, type FieldType } from "@gatehouse/ledger-format/fields";
import { isoMicros } from "../kernel/clock.ts";
import { LINE_COLUMNS, lineColumns } from "./row-line.ts";

const TYPES = FIELDS as Readonly<Record<string, { readonly type: FieldType }>>;
const ID = /^[0-9A-Za-z_-]{1,64}$/;

/** The chain gives a row these four; they stand side by side in a line. */
const CHAIN_FROM = LINE_COLUMNS.indexOf("chain_id");
const CHAIN_TO = LINE_COLUMNS.indexOf("row_hash") + 1;

/** A row as it may be stored, and its journal line but for what the chain gives it. */
export interface StorableRow {
  readonly row: AuditRow;
  readonly before: string;
  readonly after: string;
}

/**
 * Makes a row storable, in place, without ever refusing it: PostgreSQL holds neither NUL characters nor lone surrogates,
 * and what is hashed must be what is stored. Values of a wrong type become absent. Throws `TypeError` when the row has
 * no id.
 */
export function storableRow(row: AuditRow): StorableRow {
  if (typeof row.id !== "string" || !ID.test(row.id)) throw new TypeError("an audit row needs an id of its own");
  const values = row as Record<string, unknown>;
  for (const name in row) {
    const value = values[name];
    if (value === null || value === undefined) continue;
    const type = TYPES[name]?.type;
    if (type === undefined) delete values[name];
    else if (!fits(type, value)) values[name] = ofType(type, value);
  }
  let before = lineColumns(row, 0, CHAIN_FROM);
  let after = lineColumns(row, CHAIN_TO, LINE_COLUMNS.length);
  if (!isStorable(before) || !isStorable(after)) {
    for (const name of Object.keys(values)) values[name] = storable(values[name]);
    before = lineColumns(row, 0, CHAIN_FROM);
    after = lineColumns(row, CHAIN_TO, LINE_COLUMNS.length);
  }
  return { row, before, after };
}

// JSON writes a NUL and a lone surrogate as escapes; texts that merely spell one only cost a second look.
const isStorable = (line: string): boolean => line.isWellFormed() && !line.includes("\0") && !line.includes("\\u0000") && !line.includes("\\ud");

function fits(type: FieldType, value: unknown): boolean {
  switch (type) {
    case "text":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "timestamp":
      return isTimestamp(value);
    case "json":
      return isSerialisable(value);
  }
}

/** Flat objects and arrays of texts, which is what rows hold, are told without writing them out. */
function isSerialisable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint" && typeof value !== "function";
  for (const key in value) if (typeof (value as Record<string, unknown>)[key] !== "string") return canSerialise(value);
  return true;
}

function canSerialise(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function ofType(type: FieldType, value: unknown): unknown {
  switch (type) {
    case "text":
      return String(value);
    case "integer": {
      const rounded = Math.round(Number(value));
      return typeof value === "number" && Number.isSafeInteger(rounded) ? rounded : null;
    }
    case "timestamp": {
      const millis = typeof value === "string" ? Date.parse(value) : Number.NaN;
      return Number.isNaN(millis) ? null : isoMicros(millis * 1000);
    }
    default:
      return null;
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
