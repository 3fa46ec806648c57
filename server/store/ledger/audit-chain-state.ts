import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface AuditChainState {
  readonly writer: string;
  readonly headSeq: number;
  readonly headHash: string;
  readonly shipped: { readonly segment: number; readonly offset: number };
}

export async function readAuditChain(db: Database, chainId: string): Promise<AuditChainState | null> {
  const row = await db
    .selectFrom("audit_chains")
    .select(["writer", "head_seq", "head_hash", "shipped_segment", "shipped_offset"])
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row === undefined
    ? null
    : {
        writer: row.writer,
        headSeq: row.head_seq,
        headHash: row.head_hash,
        shipped: { segment: row.shipped_segment, offset: row.shipped_offset },
      };
}

/** Makes `writer` the chain's only writer, continuing from `shipped`. A previous writer can add nothing more. */
export async function claimAuditChain(
  db: Database,
  claim: { chainId: string; writer: string; genesisHash: string; shipped: { segment: number; offset: number } },
): Promise<void> {
  const { segment: shipped_segment, offset: shipped_offset } = claim.shipped;
  await db
    .insertInto("audit_chains")
    .values({
      chain_id: claim.chainId,
      writer: claim.writer,
      head_hash: claim.genesisHash,
      last_checkpoint_seq: null,
      shipped_segment,
      shipped_offset,
    })
    .onConflict((conflict) =>
      conflict.column("chain_id").doUpdateSet({ writer: claim.writer, shipped_segment, shipped_offset, updated_at: sql`now()` }),
    )
    .execute();
}
