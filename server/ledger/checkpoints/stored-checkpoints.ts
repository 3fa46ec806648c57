import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { sql } from "kysely";
import type { ObjectBucket } from "../../store/files/bucket.ts";
import type { Database } from "../../store/database.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { checkpointKey, checkpointPlace } from "./checkpoint-key.ts";

/** The checkpoints of a stretch of one chain, oldest first, that the bucket does not have. */
export async function missingCheckpoints(
  bucket: ObjectBucket,
  chainId: string,
  stretch: readonly SignedCheckpoint[],
): Promise<SignedCheckpoint[]> {
  const [first, last] = [stretch[0], stretch.at(-1)];
  if (first === undefined || last === undefined) return [];
  const there = new Set<string>();
  const after = checkpointKey({ ...first, checkpoint_no: first.checkpoint_no - 1, chain_seq: Number.MAX_SAFE_INTEGER });
  for await (const key of bucket.list(`${chainId}/`, { after })) {
    if (key > checkpointKey(last)) break;
    there.add(key);
  }
  return stretch.filter((checkpoint) => !there.has(checkpointKey(checkpoint)));
}

export interface BucketState {
  /** How many chains the bucket is up to date with. */
  readonly kept: number;
  /** Chains whose newest checkpoint it does not have. */
  readonly lacking: string[];
  /** Chains of which it has other checkpoints than the database: they were set back, or continued otherwise. */
  readonly contradicting: string[];
}

/** Changes nothing. Throws `BucketFailed`. */
export async function bucketState(bucket: ObjectBucket, db: Database): Promise<BucketState> {
  let kept = 0;
  const lacking: string[] = [];
  const contradicting: string[] = [];
  for await (const _ of bucket.list("", { pageSize: 1 })) break;
  for (const chainId of await signedChains(db)) {
    const newest = await storedCheckpoints(db, chainId, Number.MAX_SAFE_INTEGER, 1);
    if (newest.length === 0) continue;
    if ((await missingCheckpoints(bucket, chainId, newest)).length > 0) lacking.push(chainId);
    else kept += 1;
    if (await contradicts(bucket, db, newest[0] as SignedCheckpoint)) contradicting.push(chainId);
  }
  return { kept, lacking, contradicting };
}

/** A checkpoint is put once the database has it, so nothing of a chain is behind its newest, and nothing else at that one's number. */
async function contradicts(bucket: ObjectBucket, db: Database, newest: SignedCheckpoint): Promise<boolean> {
  const place = checkpointPlace(newest);
  for await (const key of bucket.list(`${newest.chain_id}/`, { after: place })) {
    if (key === checkpointKey(newest)) continue;
    // It may have been signed since the database was read.
    const [now] = await storedCheckpoints(db, newest.chain_id, Number.MAX_SAFE_INTEGER, 1);
    return key.startsWith(place) || now === undefined || key > checkpointKey(now);
  }
  return false;
}

export async function signedChains(db: Database): Promise<string[]> {
  const { rows } = await sql<{ chain_id: string }>`SELECT chain_id FROM audit_chains ORDER BY chain_id`.execute(db);
  return [...rows.map((chain) => chain.chain_id), ADMIN_CHAIN];
}

/** The newest checkpoints of a chain before number `before`, oldest first. */
export async function storedCheckpoints(db: Database, chainId: string, before: number, limit: number): Promise<SignedCheckpoint[]> {
  const from = chainId === ADMIN_CHAIN ? sql`admin_log_checkpoints WHERE` : sql`audit_checkpoints WHERE chain_id = ${chainId} AND`;
  const { rows } = await sql<
    Omit<SignedCheckpoint, "chain_id">
  >`SELECT checkpoint_no, chain_seq, note FROM ${from} checkpoint_no < ${before} ORDER BY checkpoint_no DESC LIMIT ${limit}`.execute(db);
  return rows.toReversed().map((row) => ({ chain_id: chainId, ...row }));
}
