import { FIELD_NAMES, FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";
import { sql, type RawBuilder } from "kysely";
import { isObject } from "../../kernel/json-value.ts";

/** IDs are found directly, bodies are not searched, and the two times have an index each. */
const NOT_LOOKED_UP: readonly FieldName[] = ["id", "request_body_preview", "response_body_preview", "bodies_pruned_at", "erased_at"];

/** Objects of texts, and the largest JSON of a row: computing their terms in a special way costs a third. */
export const HEADER_FIELDS: readonly FieldName[] = ["request_headers", "response_headers"];

/** Fields whose values can be located through blocks. */
export const LOOKED_UP: readonly FieldName[] = FIELD_NAMES.filter((name) => !NOT_LOOKED_UP.includes(name));

/** The hash that stands for an absent value. */
export const ABSENT_HASH = 1_985_229_328;

const HASHES: Readonly<Record<Exclude<FieldType, "json">, (value: string) => string>> = {
  text: (value) => `hashtext(${value})`,
  integer: (value) => `hashint8(${value})`,
  number: (value) => `hash_numeric(${value})`,
  boolean: (value) => `${value}::integer`,
  timestamp: (value) => `hashint8((extract(epoch FROM ${value}) * 1000000)::bigint)`,
};

/** SQL of a join that yields the terms of a JSON column as `t.term`. Whatever contains a value has all terms of that value. */
export function termsOfColumn(name: FieldName, column: string): string {
  if (!HEADER_FIELDS.includes(name)) return `CROSS JOIN LATERAL audit_json_terms(${column}) AS t (term)`;
  return (
    `CROSS JOIN LATERAL (SELECT hashtext(key || '=' || coalesce(value, 'null')) AS term FROM jsonb_each_text(CASE WHEN ` +
    `jsonb_typeof(${column}) = 'object' THEN ${column} END)) AS t`
  );
}

/** SQL of the hash of a non-JSON column of `audit_rows`. */
export function hashOfColumn(name: FieldName, column: string): string {
  const { type } = FIELDS[name];
  if (type === "json") throw new TypeError(`${name} has terms, not a hash`);
  return HASHES[type](column);
}

/** A field, and hashes of which every matching row has at least one. */
export interface RowLookup {
  readonly field: FieldName;
  /** SQL of an array of integers. */
  readonly hashes: RawBuilder<unknown>;
  /** Whether a row without the field matches too. */
  readonly absent: boolean;
}

const MAX_VALUES = 20;
/** Parts of one JSON value to look up; more would cost more than they save in comparisons. */
const MAX_PARTS = 3;

/**
 * Lookups, all of which hold, for rows whose field is one of `values` (null: absent). Empty if blocks cannot help: for too many values, or
 * JSON without scalar members.
 */
export function lookupsOf(field: FieldName, values: readonly unknown[]): RowLookup[] {
  if (!LOOKED_UP.includes(field) || values.length === 0 || values.length > MAX_VALUES) return [];
  const { type } = FIELDS[field];
  const present = values.filter((value) => value !== null);
  const absent = present.length < values.length;
  const lookup = (hashes: readonly RawBuilder<unknown>[]): RowLookup => ({
    field,
    absent,
    hashes: sql`ARRAY[${sql.join(absent ? [...hashes, sql`${sql.lit(ABSENT_HASH)}`] : hashes)}]`,
  });
  if (type !== "json") return [lookup(present.map((value) => hashOfValue(type, value)))];
  const parts = present.map(partsOf);
  if (parts.some((some) => some.length === 0)) return [];
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only.slice(0, MAX_PARTS).map((part) => lookup([hashOfPart(field, part)]));
  return [lookup(parts.map(([part]) => hashOfPart(field, part)))];
}

/** Objects with one scalar member each that stand for a JSON value, longest first: an ID is more selective than a common word. */
function partsOf(value: unknown): unknown[] {
  const scalar = (member: unknown): boolean => typeof member !== "object" || member === null;
  if (scalar(value)) return [value];
  const byLength = (members: readonly [string, unknown][]) =>
    members.filter(([, member]) => scalar(member)).sort(([, a], [, b]) => String(b).length - String(a).length);
  const members = byLength(Object.entries(value as object));
  return Array.isArray(value) ? members.map(([, member]) => [member]) : members.map(([name, member]) => ({ [name]: member }));
}

function hashOfPart(field: FieldName, part: unknown): RawBuilder<unknown> {
  if (!HEADER_FIELDS.includes(field)) return sql`(SELECT term FROM audit_json_terms(${JSON.stringify(part)}::text::jsonb) AS term LIMIT 1)`;
  // Anything but an object gets a term that no headers have.
  const [header] = isObject(part) ? Object.entries(part) : [];
  return sql`hashtext(${header === undefined ? "" : `${header[0]}=${header[1]}`}::text)`;
}

function hashOfValue(type: Exclude<FieldType, "json">, value: unknown): RawBuilder<unknown> {
  switch (type) {
    case "text":
      return sql`hashtext(${value}::text)`;
    case "integer":
      return sql`hashint8(${value}::bigint)`;
    case "number":
      return sql`hash_numeric(${value}::numeric)`;
    case "boolean":
      return sql`${value}::boolean::integer`;
    case "timestamp":
      return sql`hashint8((extract(epoch FROM ${value}::timestamptz) * 1000000)::bigint)`;
  }
}
