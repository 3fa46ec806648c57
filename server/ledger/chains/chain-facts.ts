import { GENESIS_HASH } from "@gatehouse/ledger-format/canonical";
import { sql } from "kysely";
import { isoColumn } from "../../store/ledger/audit-columns.ts";
import type { Database } from "../../store/database.ts";

/**
 * The recorded state of a chain. If rows name a chain without a record (deleted, or never created), it is reported as ending before its
 * first row and without a writer, so that verification finds every row beyond the end.
 */
export interface StoredChainFacts {
  readonly chain_id: string;
  readonly writer: string;
  readonly first_seq: number;
  readonly head_seq: number;
  readonly head_hash: string;
  readonly last_checkpoint_seq: number | null;
  readonly updated_at: string;
}

const FACTS = sql`chain_id, writer, first_seq, head_seq, head_hash, last_checkpoint_seq, ${isoColumn("updated_at")} AS updated_at`;
const WITHOUT_RECORD = sql`''::text AS writer, 1::bigint AS first_seq, 0::bigint AS head_seq, ${sql.lit(GENESIS_HASH)} AS head_hash, NULL::bigint AS last_checkpoint_seq, now() AS updated_at`;

/** All chains: those with a record, and those only rows or checkpoints name. */
export async function listChains(db: Database): Promise<StoredChainFacts[]> {
  // Jumps from one ID to the next through the indexes: there are few chains among very many rows.
  const { rows } = await sql<StoredChainFacts>`
    WITH RECURSIVE named (chain_id) AS (
      SELECT least((SELECT min(chain_id) FROM audit_rows), (SELECT min(chain_id) FROM audit_checkpoints))
      UNION ALL
      SELECT least((SELECT min(r.chain_id) FROM audit_rows r WHERE r.chain_id > n.chain_id), (SELECT min(c.chain_id) FROM audit_checkpoints c WHERE c.chain_id > n.chain_id))
        FROM named n WHERE n.chain_id IS NOT NULL
    )
    SELECT ${FACTS} FROM audit_chains
    UNION ALL
    SELECT ${FACTS} FROM (SELECT n.chain_id, ${WITHOUT_RECORD} FROM named n WHERE n.chain_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_chains a WHERE a.chain_id = n.chain_id)) AS unrecorded
    ORDER BY chain_id`.execute(db);
  return rows;
}

/** Null if neither a record nor a row nor a checkpoint names the chain. */
export async function readChainFacts(db: Database, chainId: string): Promise<StoredChainFacts | null> {
  const recorded = await sql<StoredChainFacts>`SELECT ${FACTS} FROM audit_chains WHERE chain_id = ${chainId}`.execute(db);
  if (recorded.rows[0] !== undefined) return recorded.rows[0];
  const named = await sql<StoredChainFacts>`
    SELECT ${FACTS} FROM (SELECT ${chainId}::text AS chain_id, ${WITHOUT_RECORD}) AS unrecorded
    WHERE EXISTS (SELECT FROM audit_rows WHERE chain_id = ${chainId}) OR EXISTS (SELECT FROM audit_checkpoints WHERE chain_id = ${chainId})`.execute(
    db,
  );
  return named.rows[0] ?? null;
}

/** The number of rows that name no chain. No gateway writes such rows, and chain verification does not read them. */
export async function countUnchained(db: Database): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM audit_rows WHERE chain_id IS NULL`.execute(db);
  return rows[0]?.n ?? 0;
}
