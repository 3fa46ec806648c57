import type { FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";
import { readRowLine, rowLine } from "../row-line.ts";

/** Fields kept of a row that the database rejected: the hashed ones and the chain's. */
const PROVEN: readonly FieldName[] = [...HASH_FORMATS.v2, "created_at", "chain_id", "chain_seq", "prev_hash", "row_hash", "source"];
const PLACE: readonly FieldName[] = ["id", "chain_id", "chain_seq", "prev_hash", "row_hash", "source"];

/** The SQLSTATE if the database rejected a statement because of its data, so that a retry cannot help but fewer fields may; else null. */
export function isDataRejected(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(22|23|54)/.test(code) ? code : null;
}

/**
 * Reduces a row that the database rejected, so that the chain can continue; `custom_metadata.ship_error` says so. `bare` also drops hashed
 * fields: the row then verifies as altered.
 */
export function withoutRejectedData(line: string, columns: readonly string[], code: string, bare: boolean): string {
  const row = readRowLine(line, columns);
  const kept = Object.fromEntries((bare ? PLACE : PROVEN).map((name) => [name, row[name] ?? null]));
  return rowLine({ ...kept, custom_metadata: { ship_error: `the database refused the row's data (SQLSTATE ${code})` } });
}
