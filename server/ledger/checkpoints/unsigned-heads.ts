import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { sql } from "kysely";
import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../../store/database.ts";
import { listChains } from "../chains/chain-facts.ts";
import type { CheckpointRecord } from "../journal/journal-contents.ts";
import { checkpointState, signHead } from "./sign-head.ts";
import { listSigningKeys } from "./signing-keys.ts";
import { storedCheckpoints } from "./stored-checkpoints.ts";

/** A checkpoint added to a copy of the database, in place of the one its writer would have signed next. */
export type HeadCheckpoint = Omit<CheckpointRecord, "digest">;

/**
 * Signs the head of every chain, and of the admin log, that has rows beyond its last checkpoint. Stores nothing. Empty without a signing
 * key, or with a key that this database does not list as valid: no verification would trust it.
 */
export async function signUnsignedHeads(db: Database, signingKey: string | undefined, clock: Clock): Promise<HeadCheckpoint[]> {
  if (signingKey === undefined) return [];
  const signer = noteSigner(CHECKPOINT_KEY_NAME, signingKey);
  const known = (await listSigningKeys(db)).find(
    (key) => key.key_id === signer.keyId && key.public_key === signer.publicKey && key.valid_to === null,
  );
  if (known === undefined) return [];
  const admin = await db.selectFrom("admin_log_head").select(["seq", "hash"]).executeTakeFirst();
  const heads = [
    ...(await listChains(db)).map((chain) => ({ chainId: chain.chain_id, seq: chain.head_seq, hash: chain.head_hash })),
    ...(admin === undefined ? [] : [{ chainId: ADMIN_CHAIN, seq: admin.seq, hash: admin.hash }]),
  ];
  const signed: HeadCheckpoint[] = [];
  for (const head of heads) {
    const last = (await storedCheckpoints(db, head.chainId, Number.MAX_SAFE_INTEGER, 1))[0];
    if (head.seq === 0 || (last !== undefined && last.chain_seq >= head.seq)) continue;
    const { digest: _, ...checkpoint } = signHead(
      { signer, clock, keyValidFrom: known.valid_from },
      head,
      last === undefined ? null : checkpointState(last),
    );
    signed.push(checkpoint);
  }
  return signed;
}

/** Stores such checkpoints in the copy. */
export async function storeHeadCheckpoints(db: Database, checkpoints: readonly HeadCheckpoint[]): Promise<void> {
  for (const { chain_id, checkpoint_no, chain_seq, note, signed_at } of checkpoints)
    if (chain_id === ADMIN_CHAIN)
      await db.insertInto("admin_log_checkpoints").values({ checkpoint_no, chain_seq, note, signed_at }).execute();
    else {
      await sql`INSERT INTO audit_checkpoints (chain_id, checkpoint_no, chain_seq, note, signed_at)
        VALUES (${chain_id}, ${checkpoint_no}, ${chain_seq}, ${note}, ${signed_at})`.execute(db);
      await sql`UPDATE audit_chains SET last_checkpoint_seq = ${chain_seq} WHERE chain_id = ${chain_id}`.execute(db);
    }
}
