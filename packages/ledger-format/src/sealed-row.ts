import { adminEntryHash, ADMIN_CHAIN, type AdminEntry } from "./admin-entry.ts";
import { NotCanonical } from "./canonical.ts";
import type { RowLink } from "./chain-facts.ts";
import type { AuditRow } from "./fields.ts";

/** What verification needs of a row besides its hash. */
export type SealedRow = Pick<
  AuditRow,
  "id" | "chain_id" | "chain_seq" | "prev_hash" | "row_hash" | "created_at" | "bodies_pruned_at" | "erased_at"
>;

/** The hashes to record for a row whose content does not match its hash: a content mark if it has no canonical bytes. */
export const givenInstead = (possible: readonly string[], mark: () => string): readonly string[] =>
  possible.length > 0 ? possible : [mark()];

/** Reduces a row that the reader may not see to its links, with the hashes of its content and nothing else about it. */
export function linkOf(row: SealedRow, possible: readonly string[], mark: () => string): RowLink {
  const { chain_seq, prev_hash, row_hash, created_at } = row;
  return {
    chain_seq: chain_seq as number,
    prev_hash: prev_hash ?? "",
    row_hash: row_hash ?? "",
    ...(created_at == null ? {} : { created_at }),
    ...(possible.includes(row_hash ?? "") ? {} : { hashes_to: givenInstead(possible, mark) }),
  };
}

export function possibleEntryHashes(entry: AdminEntry): string[] {
  try {
    return [adminEntryHash(entry)];
  } catch (error) {
    if (error instanceof NotCanonical) return [];
    throw error;
  }
}

/** Maps an admin log entry to the form in which rows are verified. */
export function sealedEntry({ id, chain_seq, prev_hash, entry_hash, at }: AdminEntry): SealedRow {
  const created_at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at) ? at.replace("Z", "000Z") : null;
  return { id, chain_id: ADMIN_CHAIN, chain_seq, prev_hash, row_hash: entry_hash, created_at };
}
