import { sql } from "kysely";
import type { Database, Trx } from "./database.ts";

export interface StoredHead {
  readonly chain_id: string;
  readonly seq: number;
  readonly row_hash: string;
}

/** Heads of every chain as they are stored. */
export async function chainHeads(db: Database | Trx): Promise<StoredHead[]> {
  const { rows } = await sql<StoredHead>`
    SELECT chain_id, head_seq AS seq, head_hash AS row_hash FROM audit_chains WHERE head_seq > 0 ORDER BY chain_id`.execute(db);
  return rows;
}

/** Rows that no checkpoint is over yet although there was time for one. */
export async function unanchoredChains(db: Database | Trx, before: Date): Promise<number> {
  const { rows } = await sql<{ chains: number }>`
    SELECT count(*) AS chains FROM audit_chains
     WHERE head_seq > coalesce(last_checkpoint_seq, 0) AND updated_at < ${before}`.execute(db);
  return rows[0]?.chains ?? 0;
}

/** When a checkpoint was last signed; null where none ever was. */
export async function newestCheckpoint(db: Database | Trx): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT max(k.signed_at) AS at FROM audit_chains c CROSS JOIN LATERAL
      (SELECT signed_at FROM audit_checkpoints WHERE chain_id = c.chain_id ORDER BY checkpoint_no DESC LIMIT 1) k`.execute(db);
  return rows[0]?.at ?? null;
}
