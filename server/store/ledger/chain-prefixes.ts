import { sql } from "kysely";
import type { Trx } from "../database.ts";
import { forgetBlocksBefore } from "./forget-row-blocks.ts";

/** A stretch from the beginning of a chain that a signed checkpoint covers and that contains no younger row. */
export interface DroppablePrefix {
  readonly chain_id: string;
  readonly through_seq: number;
  readonly checkpoint_no: number;
  readonly note: string;
  /** The hash of the row at `through_seq`; null if that row is missing. */
  readonly row_hash: string | null;
}

/** For each chain, the longest prefix that ends at a checkpoint and whose rows all arrived before `before`. */
export async function droppablePrefixes(trx: Trx, before: Date): Promise<DroppablePrefix[]> {
  const { rows } = await sql<DroppablePrefix>`
    SELECT c.chain_id, p.chain_seq AS through_seq, p.checkpoint_no, p.note,
      (SELECT row_hash FROM audit_rows a WHERE a.chain_id = c.chain_id AND a.chain_seq = p.chain_seq ORDER BY a.id LIMIT 1) AS row_hash
    FROM audit_chains c CROSS JOIN LATERAL (
      SELECT chain_seq, checkpoint_no, note FROM audit_checkpoints k
      WHERE k.chain_id = c.chain_id AND k.chain_seq >= c.first_seq
        AND k.chain_seq < coalesce((SELECT min(chain_seq) FROM audit_rows y WHERE y.chain_id = c.chain_id AND y.id >= audit_id_floor(${before})), k.chain_seq + 1)
      ORDER BY k.checkpoint_no DESC LIMIT 1) p
    ORDER BY c.chain_id`.execute(trx);
  return rows;
}

/**
 * Drops partitions, first moving out the rows that belong to no prefix. The chains then begin after their prefix. `before` is where the
 * partitions end.
 */
export async function dropPrefixes(
  trx: Trx,
  partitions: readonly string[],
  prefixes: readonly DroppablePrefix[],
  before: Date,
): Promise<void> {
  await sql`SET LOCAL lock_timeout = '5s'`.execute(trx);
  const chains = prefixes.map((prefix) => prefix.chain_id);
  const ends = prefixes.map((prefix) => prefix.through_seq);
  const dropped = sql`unnest(${chains}::text[], ${ends}::bigint[]) AS d (chain_id, through_seq)`;
  for (const name of partitions) {
    const table = sql.table(name);
    await sql`ALTER TABLE audit_rows DETACH PARTITION ${table}`.execute(trx);
    await sql`INSERT INTO audit_rows SELECT a.* FROM ${table} a WHERE NOT EXISTS (SELECT FROM ${dropped} WHERE d.chain_id = a.chain_id AND a.chain_seq <= d.through_seq)`.execute(
      trx,
    );
    await sql`DROP TABLE ${table}`.execute(trx);
  }
  await sql`DELETE FROM audit_rows_rest a USING ${dropped} WHERE a.chain_id = d.chain_id AND a.chain_seq <= d.through_seq`.execute(trx);
  await forgetBlocksBefore(trx, before);
  await sql`UPDATE audit_chains c SET first_seq = d.through_seq + 1 FROM ${dropped} WHERE c.chain_id = d.chain_id`.execute(trx);
}
