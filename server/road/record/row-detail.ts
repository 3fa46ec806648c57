import type { AuditRow } from "@gatehouse/ledger-format/fields";

/** Records a value for which the row has no field of its own; null removes it. */
export function noteDetail(row: AuditRow, name: string, value: string | null): void {
  const told = { ...(row.custom_metadata as Record<string, unknown> | null | undefined) };
  if (value === null) delete told[name];
  else told[name] = value;
  if (row.custom_metadata != null || Object.keys(told).length > 0) row.custom_metadata = told;
}
