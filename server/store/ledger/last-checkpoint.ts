import type { Database } from "../database.ts";

export interface LastCheckpoint {
  readonly no: number;
  readonly seq: number;
  readonly note: string;
}

export async function readLastCheckpoint(db: Database, chainId: string): Promise<LastCheckpoint | null> {
  const row = await db
    .selectFrom("audit_checkpoints")
    .select(["checkpoint_no", "chain_seq", "note"])
    .where("chain_id", "=", chainId)
    .orderBy("checkpoint_no", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { no: row.checkpoint_no, seq: row.chain_seq, note: row.note };
}
