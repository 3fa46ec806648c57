import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { sql } from "kysely";
import type { ObjectBucket } from "../../store/files/bucket.ts";
import type { Database } from "../../store/database.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { differingCheckpoints } from "./checkpoint-contents.ts";
import { checkpointKey, checkpointPlace } from "./checkpoint-key.ts";
import { listSigningKeys, trustedKeys } from "./signing-keys.ts";

/** Those of consecutive checkpoints of one chain, oldest first, that are not in the bucket. */
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

/** The newest checkpoints of a chain that the bucket is compared with: a chain that was set back may be longer by now than it was. */
const COMPARED = 500;
/** Of these, how many have their contents compared, which takes a request to the bucket for each. */
const CONTENTS_COMPARED = 20;

export interface BucketState {
  /** Number of chains whose newest checkpoint is in the bucket. */
  readonly kept: number;
  /** Chains whose newest checkpoint is not in the bucket. */
  readonly lacking: string[];
  /** Chains of which the bucket has checkpoints other than the database's: they were set back, or continued differently. */
  readonly contradicting: string[];
  /** Keys of the objects that state something else about their chain than the database's checkpoint in the same place. */
  readonly differing: string[];
}

/** Compares bucket and database without changing either. Throws `BucketFailed`. */
export async function bucketState(bucket: ObjectBucket, db: Database): Promise<BucketState> {
  let kept = 0;
  const lacking: string[] = [];
  const contradicting: string[] = [];
  const differing: string[] = [];
  const keys = trustedKeys(await listSigningKeys(db));
  for await (const _ of bucket.list("", { pageSize: 1 })) break;
  for (const chainId of await signedChains(db)) {
    const newest = await storedCheckpoints(db, chainId, Number.MAX_SAFE_INTEGER, COMPARED);
    if (newest.length === 0) continue;
    if ((await missingCheckpoints(bucket, chainId, newest.slice(-1))).length > 0) lacking.push(chainId);
    else kept += 1;
    if (await contradicts(bucket, db, chainId, newest)) contradicting.push(chainId);
    differing.push(...(await differingCheckpoints(bucket, newest.slice(-CONTENTS_COMPARED), keys)));
  }
  return { kept, lacking, contradicting, differing };
}

/** Whether the bucket has, from the oldest of `newest` on, a checkpoint that the database lacks: they are copied only once it has them. */
async function contradicts(bucket: ObjectBucket, db: Database, chainId: string, newest: readonly SignedCheckpoint[]): Promise<boolean> {
  const known = new Set(newest.map(checkpointKey));
  for await (const key of bucket.list(`${chainId}/`, { after: checkpointPlace(newest[0] as SignedCheckpoint) })) {
    if (known.has(key)) continue;
    // It may have been signed after the database was read.
    for (const one of await storedCheckpoints(db, chainId, Number.MAX_SAFE_INTEGER, COMPARED)) known.add(checkpointKey(one));
    if (!known.has(key)) return true;
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
