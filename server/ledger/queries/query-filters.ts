import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import type { FieldType } from "@gatehouse/ledger-format/field-types";
import { sql, type RawBuilder } from "kysely";
import type { FieldError } from "../../kernel/errors.ts";
import { lookupsOf, type RowLookup } from "../../store/ledger/row-lookups.ts";

/** Bodies are read, not searched: a filter on one would tell its content to those who may not read it. */
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

/**
 * An ISO 8601 time as the database takes it, UTC where it names no offset: the database would take its own time zone. Null for what is
 * none.
 */
export function timeOf(value: unknown): string | null {
  const [, date, clock = "00:00", offset = "Z"] = (typeof value === "string" ? TIME.exec(value) : null) ?? [];
  if (date === undefined || date.startsWith("0000")) return null;
  // `Date` takes the 30th of February for a day in March, and the database does not.
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
 * Conditions on `audit_rows` and how to look for rows that meet them, or what is wrong with the filters. A value matches
 * itself, an array any of its members, null absence.
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
    const told = Array.isArray(given) ? given : [given];
    const values = type === "timestamp" ? told.map((value) => timeOf(value) ?? value) : told;
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
  // A label matches the list that holds it, an object the object that has its members.
  if (type === "json") for (const value of values) any.push(sql<boolean>`${column} @> ${JSON.stringify(value)}::text::jsonb`);
  else if (values.length > 0) any.push(sql<boolean>`${column} IN (${sql.join(values.map((value) => sql`${value}::${cast}`))})`);
  return any.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(any, sql` OR `)})`;
}
