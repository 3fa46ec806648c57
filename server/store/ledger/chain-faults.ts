import { sql } from "kysely";
import { countsFor } from "./chain-acknowledgements.ts";
import type { Database, Trx } from "../database.ts";

export interface ChainFault {
  readonly chain_id: string;
  readonly verdict: string;
  /** The time of the chain's state that was verified. */
  readonly found_at: Date;
  /** IDs of the findings; null if they are not all known. */
  readonly findings: readonly string[] | null;
}

/** A fault as it is reported to a tenant. */
export interface KnownFault extends Omit<ChainFault, "findings"> {
  /** The newest acknowledgement, if every finding has one. */
  readonly acknowledged: { readonly by: string | null; readonly at: string; readonly note: string } | null;
}

/** Findings are matched by time: an older release may since have found the fault again without recording findings. */
const NAMED = sql`chain_faults f LEFT JOIN chain_fault_findings n ON n.chain_id = f.chain_id AND n.found_at = f.found_at`;

/** For a null tenant, only acknowledgements for all tenants count. */
export async function chainFaults(db: Database | Trx, tenantId: string | null): Promise<KnownFault[]> {
  const { rows } = await sql<KnownFault>`
    SELECT f.chain_id, f.verdict, f.found_at, CASE WHEN known.many = (SELECT count(DISTINCT id) FROM unnest(n.findings) id) THEN known.newest END AS acknowledged
      FROM ${NAMED} CROSS JOIN LATERAL (
        SELECT count(DISTINCT a.finding_id) AS many,
            (array_agg(json_build_object('by', a.acknowledged_by, 'at', a.acknowledged_at, 'note', a.note) ORDER BY a.acknowledged_at DESC))[1] AS newest
          FROM chain_acknowledgements a WHERE a.chain_id = f.chain_id AND a.finding_id = ANY (n.findings) AND ${countsFor(tenantId)}
      ) known
     ORDER BY f.chain_id`.execute(db);
  return rows;
}

export async function faultOfChain(db: Database | Trx, chainId: string): Promise<ChainFault | undefined> {
  const { rows } = await sql<ChainFault>`
    SELECT f.chain_id, f.verdict, f.found_at, n.findings FROM ${NAMED} WHERE f.chain_id = ${chainId}`.execute(db);
  return rows[0];
}

export async function putChainFault(trx: Trx, { chain_id: id, verdict, found_at: at, findings }: ChainFault): Promise<void> {
  await sql`
    INSERT INTO chain_faults (chain_id, verdict, found_at) VALUES (${id}, ${verdict}, ${at})
    ON CONFLICT (chain_id) DO UPDATE SET verdict = excluded.verdict, found_at = excluded.found_at`.execute(trx);
  await sql`DELETE FROM chain_fault_findings WHERE chain_id = ${id}`.execute(trx);
  if (findings !== null)
    await sql`INSERT INTO chain_fault_findings (chain_id, found_at, findings) VALUES (${id}, ${at}, ${[...findings]}::text[])`.execute(trx);
}

/** Records that the same fault was found again at a later time. */
export async function moveChainFault(trx: Trx, chainId: string, to: Date): Promise<void> {
  await sql`
    UPDATE chain_fault_findings n SET found_at = ${to} FROM chain_faults f
     WHERE n.chain_id = ${chainId} AND f.chain_id = n.chain_id AND f.found_at = n.found_at AND f.found_at < ${to}`.execute(trx);
  await sql`UPDATE chain_faults SET found_at = ${to} WHERE chain_id = ${chainId} AND found_at < ${to}`.execute(trx);
}

export async function removeChainFault(trx: Trx, chainId: string): Promise<void> {
  await sql`DELETE FROM chain_faults WHERE chain_id = ${chainId}`.execute(trx);
  await sql`DELETE FROM chain_fault_findings WHERE chain_id = ${chainId}`.execute(trx);
}
