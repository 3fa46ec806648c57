import { FIELD_NAMES, FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";
import { sql, type RawBuilder } from "kysely";
import { isObject } from "../../kernel/json-value.ts";

/** The id is its own way in, bodies are not searched, and the two times have an index each. */
const NOT_LOOKED_UP: readonly FieldName[] = ["id", "request_body_preview", "response_body_preview", "bodies_pruned_at", "erased_at"];

/** Objects of texts, and the largest JSON of a row: their terms are made in a way of their own, which costs a third. */
export const HEADER_FIELDS: readonly FieldName[] = ["request_headers", "response_headers"];

/** Fields of which blocks say where their values are. */
export const LOOKED_UP: readonly FieldName[] = FIELD_NAMES.filter((name) => !NOT_LOOKED_UP.includes(name));

/** Stands for absence among the hashes of a field. */
export const ABSENT_HASH = 1_985_229_328;

const HASHES: Readonly<Record<Exclude<FieldType, "json">, (value: string) => string>> = {
  text: (value) => `hashtext(${value})`,
  integer: (value) => `hashint8(${value})`,
  number: (value) => `hash_numeric(${value})`,
  boolean: (value) => `${value}::integer`,
  timestamp: (value) => `hashint8((extract(epoch FROM ${value}) * 1000000)::bigint)`,
};

/** SQL of a join that gives the terms of a JSON column as `t.term`: what contains a value has all terms of the value. */
export function termsOfColumn(name: FieldName, column: string): string {
  if (!HEADER_FIELDS.includes(name)) return `CROSS JOIN LATERAL audit_json_terms(${column}) AS t (term)`;
  return (
    `CROSS JOIN LATERAL (SELECT hashtext(key || '=' || coalesce(value, 'null')) AS term FROM jsonb_each_text(CASE WHEN ` +
    `jsonb_typeof(${column}) = 'object' THEN ${column} END)) AS t`
  );
}

/** SQL of the hash of a column of `audit_rows` that is not JSON. */
export function hashOfColumn(name: FieldName, column: string): string {
  const { type } = FIELDS[name];
  if (type === "json") throw new TypeError(`${name} has terms, not a hash`);
  return HASHES[type](column);
}

/** A field, and hashes of which a row that matches has at least one. */
export interface RowLookup {
  readonly field: FieldName;
  /** SQL of an array of integers. */
  readonly hashes: RawBuilder<unknown>;
  /** Whether a row without the field matches too. */
  readonly absent: boolean;
}

const MAX_VALUES = 20;
/** Of one JSON value: more would cost more to look up than they keep from being compared. */
const MAX_PARTS = 3;

/**
 * How to look for rows whose field is one of `values` (null: absent), all of which hold; none when blocks cannot tell: of
 * many values, and of JSON that has no scalars of its own.
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

/** What stands for a JSON value, a scalar member each, longest first: an id tells more than a common word. */
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
  // Of anything but an object a term that no headers have.
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
