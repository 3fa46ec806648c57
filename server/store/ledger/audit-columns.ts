import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql, type RawBuilder } from "kysely";

/** SQL of a timestamptz as ISO 8601 UTC with six decimals: a `Date` would lose the microseconds, and the hash covers them. */
export function isoText(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

export function isoColumn(name: string): RawBuilder<string | null> {
  return sql`${sql.raw(isoText(name))}`;
}

// A function of PostgreSQL takes at most 100 arguments.
const ARGUMENTS = 90;

/**
 * Columns of `audit_rows` as one JSON text named `line`, an array of arrays whose values together stand in the order of
 * `names`. One text is read several times faster than as many columns.
 */
export function auditLine(names: readonly FieldName[]): RawBuilder<unknown> {
  const arrays = Array.from(
    { length: Math.ceil(names.length / ARGUMENTS) },
    (_, i) => sql`json_build_array(${sql.join(names.slice(i * ARGUMENTS, (i + 1) * ARGUMENTS).map(auditValue))})`,
  );
  return sql`json_build_array(${sql.join(arrays)})::text AS line`;
}

const auditValue = (name: FieldName): RawBuilder<unknown> =>
  FIELDS[name].type === "timestamp" ? isoColumn(`audit_rows.${name}`) : sql`${sql.ref(`audit_rows.${name}`)}`;

/** Select list of columns of `audit_rows` in the form an `AuditRow` has. */
export function auditColumns(names: readonly FieldName[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${auditValue(name)} AS ${sql.ref(name)}`));
}
