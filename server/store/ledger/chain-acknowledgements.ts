import { type RawBuilder, sql } from "kysely";
import type { Database, Trx } from "../database.ts";

export interface ChainAcknowledgement {
  readonly finding_id: string;
  readonly verdict: string;
  readonly chain_seq: number;
  readonly through_seq: number;
  readonly detail: string;
  readonly head_hash: string | null;
  readonly note: string;
  readonly acknowledged_by: string | null;
  readonly acknowledged_at: Date;
}

/** Condition: acknowledgements that apply to a tenant, its own and those for all tenants. A null tenant means only those for all. */
export const countsFor = (tenantId: string | null): RawBuilder<boolean> => sql`(a.tenant_id IS NULL OR a.tenant_id = ${tenantId}::text)`;

/** Acknowledgements by finding ID. Empty if the database's release does not have them yet. */
export async function acknowledgedFindings(
  db: Database | Trx,
  chainId: string,
  tenantId: string | null,
): Promise<ReadonlyMap<string, ChainAcknowledgement>> {
  const { rows: made } = await sql<{ there: boolean }>`SELECT to_regclass('chain_acknowledgements') IS NOT NULL AS there`.execute(db);
  if (made[0]?.there !== true) return new Map();
  const { rows } = await sql<ChainAcknowledgement>`
    SELECT finding_id, verdict, chain_seq, through_seq, detail, head_hash, note, acknowledged_by, acknowledged_at
      FROM chain_acknowledgements a WHERE chain_id = ${chainId} AND ${countsFor(tenantId)} ORDER BY acknowledged_at DESC`.execute(db);
  return new Map(rows.map((row) => [row.finding_id, row]));
}

export async function putAcknowledgements(
  trx: Trx,
  chainId: string,
  tenantId: string | null,
  acknowledgements: readonly ChainAcknowledgement[],
): Promise<void> {
  const written = acknowledgements.map((one) => ({ ...one, acknowledged_at: one.acknowledged_at.toISOString() }));
  await sql`
    INSERT INTO chain_acknowledgements
      (chain_id, finding_id, tenant_id, verdict, chain_seq, through_seq, detail, head_hash, note, acknowledged_by, acknowledged_at)
    SELECT ${chainId}, finding_id, ${tenantId}::text, verdict, chain_seq, through_seq, detail, head_hash, note, acknowledged_by, acknowledged_at
      FROM jsonb_to_recordset(${JSON.stringify(written)}::jsonb) AS given (
        finding_id text, verdict text, chain_seq bigint, through_seq bigint, detail text, head_hash text, note text,
        acknowledged_by text, acknowledged_at timestamptz
      )
    ON CONFLICT DO NOTHING`.execute(trx);
}
