import { isTimestamp } from "@gatehouse/ledger-format/canonical";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";
import { isoMicros } from "../kernel/clock.ts";
import { isStorableText, storableText, storableValue } from "../kernel/text/storable.ts";
import { PLACE_OF, RowColumns, TYPES } from "./row-line.ts";

const ID = /^[0-9A-Za-z_-]{1,64}$/;

/**
 * Makes a row storable, in place, without ever rejecting its values: PostgreSQL stores neither NUL characters nor lone surrogates, and the
 * hash must match what is stored. Values of the wrong type are dropped. Returns the columns of the journal line except the chain's. Throws
 * `TypeError` if the row has no valid ID.
 */
export function storableRow(row: AuditRow): RowColumns {
  if (typeof row.id !== "string" || !ID.test(row.id)) throw new TypeError("an audit row needs an id of its own");
  const columns = new RowColumns();
  const values = row as Record<string, unknown>;
  for (const name in row) {
    const value = values[name];
    if (value === null || value === undefined) continue;
    const place = PLACE_OF.get(name);
    if (place === undefined) {
      delete values[name];
      continue;
    }
    const type = TYPES[place] as FieldType;
    const fitting = fits(type, value) ? value : (values[name] = ofType(type, value));
    if (fitting !== null) columns.set(place, fitting);
  }
  return columns;
}

function fits(type: FieldType, value: unknown): boolean {
  switch (type) {
    case "text":
      return typeof value === "string" && isStorableText(value);
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "timestamp":
      return isTimestamp(value);
    case "json":
      return isFlat(value);
  }
}

/** Fast path for flat objects and arrays of strings, which is what rows usually hold. */
function isFlat(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner !== "string" || !isStorableText(inner) || !isStorableText(key)) return false;
  }
  return true;
}

function ofType(type: FieldType, value: unknown): unknown {
  switch (type) {
    case "text":
      return storableText(String(value));
    case "integer": {
      const rounded = Math.round(Number(value));
      return typeof value === "number" && Number.isSafeInteger(rounded) ? rounded : null;
    }
    case "timestamp": {
      const millis = typeof value === "string" ? Date.parse(value) : Number.NaN;
      return Number.isNaN(millis) ? null : isoMicros(millis * 1000);
    }
    case "json":
      return storableJson(value);
    default:
      return null;
  }
}

/** Drops a value that cannot be serialised (a cycle, a BigInt) rather than losing the row. */
function storableJson(value: unknown): unknown {
  try {
    return storableValue(JSON.parse(JSON.stringify(value)));
  } catch {
    return null;
  }
}
