import type { FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";
import { readRowLine, rowLine } from "../row-line.ts";

/** Fields a row keeps when the database refuses it: what the hash covers, and its place in the chain. */
const PROVEN: readonly FieldName[] = [...HASH_FORMATS.v2, "created_at", "chain_id", "chain_seq", "prev_hash", "row_hash", "source"];
const PLACE: readonly FieldName[] = ["id", "chain_id", "chain_seq", "prev_hash", "row_hash", "source"];

/** SQLSTATE of a statement the database rejected for its data: a retry cannot help, fewer fields may. */
export function isDataRejected(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(22|23|54)/.test(code) ? code : null;
}

/**
 * What is left of a row the database rejected. The rest is lost and `custom_metadata.ship_error` says so, but the row
 * stands in its place and the chain goes on. `bare` also gives up what the hash covers: the row then verifies as altered.
 */
export function withoutRejectedData(line: string, columns: readonly string[], code: string, bare: boolean): string {
  const row = readRowLine(line, columns);
  const kept = Object.fromEntries((bare ? PLACE : PROVEN).map((name) => [name, row[name] ?? null]));
  return rowLine({ ...kept, custom_metadata: { ship_error: `the database refused the row's data (SQLSTATE ${code})` } });
}
