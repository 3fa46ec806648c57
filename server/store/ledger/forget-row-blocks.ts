import { sql } from "kysely";
import type { Trx } from "../database.ts";

/** Forgets the index data of the blocks that contain the rows: nothing of the removed content may be left, not even hashes. */
export async function forgetBlocksOf(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<TouchedBlock>`
    UPDATE audit_blocks SET filled = false, zones = NULL
    WHERE block IN (SELECT b.block FROM unnest(${ids}::text[]) AS i (id) CROSS JOIN LATERAL (SELECT block, to_id FROM audit_blocks WHERE from_id <= i.id COLLATE "C" ORDER BY from_id DESC LIMIT 1) b WHERE i.id COLLATE "C" < b.to_id)
    RETURNING block`.execute(trx);
  await forgetValues(trx, rows);
}

/** The same for all rows between two IDs. */
export async function forgetBlocksBetween(trx: Trx, least: string, most: string): Promise<void> {
  // Includes unfilled blocks, because one may just be being described from the old rows.
  const { rows } = await sql<TouchedBlock>`
    UPDATE audit_blocks SET filled = false, zones = NULL WHERE from_id <= ${most} AND to_id > ${least} RETURNING block`.execute(trx);
  await forgetValues(trx, rows);
}

/** Deletes blocks that begin before a time: their rows are gone, and the few that stay are not indexed by blocks. */
export async function forgetBlocksBefore(trx: Trx, before: Date): Promise<void> {
  const { rows } = await sql<TouchedBlock>`DELETE FROM audit_blocks WHERE from_id < audit_id_floor(${before}) RETURNING block`.execute(trx);
  await forgetValues(trx, rows);
}

interface TouchedBlock {
  readonly block: number;
}

/**
 * A separate statement after the one that waited for the process describing the blocks, because that one does not see what was written
 * while it waited.
 */
async function forgetValues(trx: Trx, touched: readonly TouchedBlock[]): Promise<void> {
  await sql`DELETE FROM audit_block_values WHERE block = ANY(${touched.map(({ block }) => block)}::bigint[])`.execute(trx);
}
