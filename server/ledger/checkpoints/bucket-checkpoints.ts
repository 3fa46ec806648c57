import type { ObjectBucket } from "../../store/files/bucket.ts";

/** Newest heads read of each chain. Each covers all rows before it; older ones only reveal forks long past. */
const NEWEST = 500;
const AT_ONCE = 8;

/** The newest checkpoints in the bucket, of every chain or of one, as export lines. Throws `BucketFailed`. */
export async function readBucketCheckpoints(bucket: ObjectBucket, chain: string | undefined): Promise<string> {
  // By chain, then by row: if an idle chain was signed repeatedly at one row, only the last checkpoint is read.
  const chains = new Map<string, Map<string, string>>();
  for await (const key of bucket.list(chain === undefined ? "" : `${chain}/`)) {
    const [, id, seq] = /^([^/]+)\/\d+-(\d+)\.jsonl$/.exec(key) ?? [];
    if (id === undefined || seq === undefined) continue;
    const heads = chains.get(id) ?? new Map<string, string>();
    chains.set(id, heads);
    heads.delete(seq);
    heads.set(seq, key);
    const [oldest] = heads.keys();
    if (heads.size > NEWEST && oldest !== undefined) heads.delete(oldest);
  }
  const keys = [...chains.values()].flatMap((heads) => [...heads.values()]);
  const lines: string[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    lines.push(...(await Promise.all(keys.slice(from, from + AT_ONCE).map(async (key) => (await bucket.get(key)) ?? ""))));
  }
  return lines.join("");
}
