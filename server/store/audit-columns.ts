import { FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql, type RawBuilder } from "kysely";

/** A timestamptz as ISO 8601 UTC with six decimals: a `Date` would lose the microseconds, and the hash covers them. */
export function isoColumn(name: string): RawBuilder<string | null> {
  return sql`to_char(${sql.ref(name)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Select list of columns of `audit_rows` in the form an `AuditRow` has. */
export function auditColumns(names: readonly FieldName[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => (FIELDS[name].type === "timestamp" ? sql`${isoColumn(`audit_rows.${name}`)} AS ${sql.ref(name)}` : sql.ref(`audit_rows.${name}`))));
}
