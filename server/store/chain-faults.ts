import { sql } from "kysely";
import type { Database, Trx } from "./database.ts";

export interface ChainFault {
  readonly chain_id: string;
  readonly verdict: string;
  readonly found_at: Date;
}

export async function chainFaults(db: Database | Trx): Promise<ChainFault[]> {
  const { rows } = await sql<ChainFault>`SELECT chain_id, verdict, found_at FROM chain_faults ORDER BY chain_id`.execute(db);
  return rows;
}

export async function putChainFault(trx: Trx, { chain_id: id, verdict, found_at: at }: ChainFault): Promise<void> {
  await sql`
    INSERT INTO chain_faults (chain_id, verdict, found_at) VALUES (${id}, ${verdict}, ${at})
    ON CONFLICT (chain_id) DO UPDATE SET verdict = excluded.verdict, found_at = excluded.found_at`.execute(trx);
}

export async function removeChainFault(trx: Trx, chainId: string): Promise<void> {
  await sql`DELETE FROM chain_faults WHERE chain_id = ${chainId}`.execute(trx);
}
