import type { AuditRow, FieldName } from "@gatehouse/ledger-format/fields";
import { csvCell } from "../../kernel/text/csv.ts";
import type { Database } from "../../store/database.ts";
import { matchingIds } from "../../store/ledger/row-search.ts";
import { readableFields, rowsById, searchOf, type RowQuery } from "./query.ts";

export type RowExport = Omit<RowQuery, "page" | "page_size">;

const BATCH = 500;

/**
 * All rows matching a query, as lines, read in batches by ID, so that neither memory use nor a transaction grows with their number. JSON
 * lines omit absent fields; CSV has a header line and empty cells for them. Throws `Refused` (invalid_body) at the first line if the query
 * is invalid.
 */
export async function* exportRows(
  db: Database,
  query: RowExport,
  access: { readonly bodies: boolean },
  format: "jsonl" | "csv",
): AsyncGenerator<string> {
  const search = searchOf(query);
  const fields = readableFields(access.bodies);
  if (format === "csv") yield `${fields.join(",")}\r\n`;
  for (let after: string | null = null; ;) {
    const ids = await matchingIds(db, search, after, BATCH);
    const rows = await rowsById(db, ids, fields, search.newestFirst);
    // One chunk per batch: chunks of single rows would cost more than the rows.
    if (rows.length > 0) yield rows.map((row) => (format === "csv" ? csvLine(row, fields) : jsonLine(row))).join("");
    if (ids.length < BATCH) return;
    after = ids.at(-1) ?? null;
  }
}

function jsonLine(row: AuditRow): string {
  return `${JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))}\n`;
}

function csvLine(row: AuditRow, fields: readonly FieldName[]): string {
  return `${fields.map((name) => csvCell(row[name])).join(",")}\r\n`;
}
