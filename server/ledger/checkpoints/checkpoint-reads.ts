import type { CheckpointLine } from "@gatehouse/ledger-format/checkpoint-trail";
import { sql } from "kysely";
import type { Database } from "../../store/database.ts";

interface CheckpointBefore extends CheckpointLine {
  readonly checkpoint_no: number;
}

/** The newest checkpoint over a row before `seq`; null if there is none. */
export async function checkpointBefore(trx: Database, chainId: string, seq: number): Promise<CheckpointBefore | null> {
  const found = await sql<CheckpointBefore>`
    SELECT checkpoint_no, chain_seq, note FROM audit_checkpoints
    WHERE chain_id = ${chainId} AND chain_seq < ${seq} ORDER BY checkpoint_no DESC LIMIT 1`.execute(trx);
  return found.rows[0] ?? null;
}

export async function nextCheckpointSeq(trx: Database, chainId: string, seq: number): Promise<number> {
  const found = await sql<{
    seq: number | null;
  }>`SELECT min(chain_seq) AS seq FROM audit_checkpoints WHERE chain_id = ${chainId} AND chain_seq >= ${seq}`.execute(trx);
  return found.rows[0]?.seq ?? seq;
}
