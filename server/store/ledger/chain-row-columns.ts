import type { FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";

/** Columns of a line: those the hash covers, then others that verification needs. The chain position comes last. */
export const CHAIN_ROW_COLUMNS = [
  ...HASH_FORMATS.v2,
  "chain_id",
  "prev_hash",
  "row_hash",
  "created_at",
  "bodies_pruned_at",
  "erased_at",
  "chain_seq",
  "id",
] as const satisfies readonly FieldName[];
