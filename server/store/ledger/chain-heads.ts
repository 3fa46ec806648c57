import { sql } from "kysely";
import { countsFor } from "./chain-acknowledgements.ts";
import type { Database, Trx } from "../database.ts";

export interface StoredHead {
  readonly chain_id: string;
  readonly seq: number;
  readonly row_hash: string;
}

/** The stored head of every chain. */
export async function chainHeads(db: Database | Trx): Promise<StoredHead[]> {
  const { rows } = await sql<StoredHead>`
    SELECT chain_id, head_seq AS seq, head_hash AS row_hash FROM audit_chains WHERE head_seq > 0 ORDER BY chain_id`.execute(db);
  return rows;
}

/** Chains with rows that no checkpoint covers although there was time for one. */
export interface Unanchored {
  readonly chains: number;
  /**
   * When the longest waiting of these chains was last signed, or created; signing other chains does not change it. Null if there are none.
   */
  readonly since: Date | null;
}

/** Leaves out acknowledged chains, unless rows were added since. For a null tenant, only acknowledgements for all tenants count. */
export async function unanchoredChains(db: Database | Trx, before: Date, tenantId: string | null): Promise<Unanchored> {
  const { rows } = await sql<Unanchored>`
    SELECT count(*) AS chains, min(coalesce(k.signed_at, c.created_at)) AS since FROM audit_chains c LEFT JOIN LATERAL
      (SELECT signed_at FROM audit_checkpoints WHERE chain_id = c.chain_id ORDER BY checkpoint_no DESC LIMIT 1) k ON true
     WHERE c.head_seq > coalesce(c.last_checkpoint_seq, 0) AND c.updated_at < ${before}
       AND NOT EXISTS (
         SELECT FROM chain_acknowledgements a WHERE a.chain_id = c.chain_id AND a.verdict = 'unanchored' AND a.head_hash = c.head_hash
            AND a.chain_seq <= coalesce(c.last_checkpoint_seq, 0) + 1 AND a.through_seq = c.head_seq AND ${countsFor(tenantId)}
       )`.execute(db);
  return rows[0] ?? { chains: 0, since: null };
}

/** When a checkpoint was last signed; null if never. */
export async function newestCheckpoint(db: Database | Trx): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT max(k.signed_at) AS at FROM audit_chains c CROSS JOIN LATERAL
      (SELECT signed_at FROM audit_checkpoints WHERE chain_id = c.chain_id ORDER BY checkpoint_no DESC LIMIT 1) k`.execute(db);
  return rows[0]?.at ?? null;
}
