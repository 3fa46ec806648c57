import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql, type RawBuilder } from "kysely";

/** SQL that prints a timestamptz as ISO 8601 UTC with six decimals: a `Date` would lose the microseconds, which the hash covers. */
export function isoText(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

export function isoColumn(name: string): RawBuilder<string | null> {
  return sql`${sql.raw(isoText(name))}`;
}

// PostgreSQL functions take at most 100 arguments.
const ARGUMENTS = 90;

/**
 * Selects columns of `audit_rows` as one JSON text named `line`: an array of arrays whose concatenated values follow `names`. One text is
 * several times faster to read than as many columns.
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

/** Select list for columns of `audit_rows`, in the form of an `AuditRow`. */
export function auditColumns(names: readonly FieldName[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql`${auditValue(name)} AS ${sql.ref(name)}`));
}
