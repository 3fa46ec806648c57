import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";
import { sql, type RawBuilder } from "kysely";
import type { FieldError } from "../../kernel/errors.ts";
import { lookupsOf, type RowLookup } from "../../store/ledger/row-lookups.ts";

/** Bodies cannot be searched: a filter would reveal their content to readers without permission to see it. */
export const BODY_FIELDS: readonly FieldName[] = ["request_body_preview", "response_body_preview"];

type Condition = RawBuilder<boolean>;

const CASTS: Readonly<Record<FieldType, string>> = {
  text: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  timestamp: "timestamptz",
  json: "jsonb",
};

const WANTED: Readonly<Record<FieldType, string>> = {
  text: "text",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  timestamp: "an ISO 8601 time",
  json: "a JSON value",
};

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-](?:0\d|1[0-5]):?[0-5]\d)?)?$/i;

/** Normalises an ISO 8601 time, with UTC if it has no offset (the database would use its own time zone). Null if it is not one. */
export function timeOf(value: unknown): string | null {
  const [, date, clock = "00:00", offset = "Z"] = (typeof value === "string" ? TIME.exec(value) : null) ?? [];
  if (date === undefined || date.startsWith("0000")) return null;
  // `Date` turns February 30 into a day in March; the database rejects it.
  const day = new Date(`${date}T00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date) || Number.isNaN(Date.parse(`${date}T${clock}Z`))) return null;
  return `${date}T${clock}${offset}`;
}

function fits(type: FieldType, value: unknown): boolean {
  switch (type) {
    case "text":
      return typeof value === "string" && !value.includes("\0");
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "timestamp":
      return timeOf(value) !== null;
    case "json":
      return !JSON.stringify(value).includes("\\u0000");
  }
}

/**
 * Conditions on `audit_rows` with index lookups for them, and the errors in the filters. A value matches itself, an array any of its
 * members, null absence.
 */
export function filterConditions(filters: Readonly<Record<string, unknown>>): {
  conditions: Condition[];
  lookups: RowLookup[];
  errors: FieldError[];
} {
  const conditions: Condition[] = [];
  const lookups: RowLookup[] = [];
  const errors: FieldError[] = [];
  for (const [name, given] of Object.entries(filters)) {
    const field = `filters.${name}`;
    if (!Object.hasOwn(FIELDS, name)) {
      errors.push({ field, message: "is not a field of an audit row" });
      continue;
    }
    if (BODY_FIELDS.includes(name as FieldName)) {
      errors.push({ field, message: "bodies cannot be searched" });
      continue;
    }
    const { type } = FIELDS[name as FieldName];
    const givenValues = Array.isArray(given) ? given : [given];
    const values = type === "timestamp" ? givenValues.map((value) => timeOf(value) ?? value) : givenValues;
    const present = values.filter((value) => value !== null);
    if (values.length > 1_000) errors.push({ field, message: "must name at most 1000 values" });
    else if (!present.every((value) => fits(type, value)))
      errors.push({ field, message: `must be ${WANTED[type]}, or an array of such values` });
    else {
      conditions.push(matches(name, type, present, present.length < values.length));
      lookups.push(...lookupsOf(name as FieldName, values));
    }
  }
  return { conditions, lookups, errors };
}

function matches(name: string, type: FieldType, values: readonly unknown[], orNull: boolean): Condition {
  const column = sql.ref(`audit_rows.${name}`);
  const cast = sql.raw(CASTS[type]);
  const any: Condition[] = orNull ? [sql<boolean>`${column} IS NULL`] : [];
  // A text matches an array that contains it, an object an object with at least its members.
  if (type === "json") for (const value of values) any.push(sql<boolean>`${column} @> ${JSON.stringify(value)}::text::jsonb`);
  else if (values.length > 0) any.push(sql<boolean>`${column} IN (${sql.join(values.map((value) => sql`${value}::${cast}`))})`);
  return any.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(any, sql` OR `)})`;
}
