import { FIELD_NAMES, FIELDS, type FieldName, type FieldType } from "@gatehouse/ledger-format/fields";
import { sql, type RawBuilder } from "kysely";

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
  return `CROSS JOIN LATERAL (SELECT hashtext(key || '=' || coalesce(value, 'null')) AS term FROM jsonb_each_text(CASE WHEN jsonb_typeof(${column}) = 'object' THEN ${column} END)) AS t`;
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

const MOST_VALUES = 20;

/**
 * How to look for rows whose field is one of `values` (null: absent), or null when blocks cannot tell: of many values, and
 * of JSON that has no scalars of its own.
 */
export function lookupOf(field: FieldName, values: readonly unknown[]): RowLookup | null {
  if (!LOOKED_UP.includes(field) || values.length === 0 || values.length > MOST_VALUES) return null;
  const { type } = FIELDS[field];
  const hashes: RawBuilder<unknown>[] = [];
  for (const value of values) {
    if (value === null) hashes.push(sql`${sql.lit(ABSENT_HASH)}`);
    else if (type === "json") {
      if (!hasTerms(value)) return null;
      hashes.push(HEADER_FIELDS.includes(field) ? sql`hashtext(${headerTerm(value)}::text)` : sql`(SELECT term FROM audit_json_terms(${JSON.stringify(value)}::text::jsonb) AS term LIMIT 1)`);
    } else hashes.push(hashOfValue(type, value));
  }
  return { field, hashes: sql`ARRAY[${sql.join(hashes)}]`, absent: values.includes(null) };
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

/** Of one header of an object; of anything else a term that no headers have. */
function headerTerm(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const [name, text] = Object.entries(value).find(([, member]) => typeof member !== "object" || member === null) ?? [];
  return `${name}=${text}`;
}

function hasTerms(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).some((member) => typeof member !== "object" || member === null);
}
