import type { AuditRow } from "@gatehouse/ledger-format/fields";

/** Records a value for which the row has no field of its own; null removes it. */
export function noteDetail(row: AuditRow, name: string, value: string | null): void {
  const metadata = { ...(row.custom_metadata as Record<string, unknown> | null | undefined) };
  if (value === null) delete metadata[name];
  else metadata[name] = value;
  if (row.custom_metadata != null || Object.keys(metadata).length > 0) row.custom_metadata = metadata;
}
