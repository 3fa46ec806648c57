import { isRefusal } from "../../kernel/errors.ts";
import type { BatchJob } from "../../directory/batch/batch-records.ts";
import type { BatchParts } from "./batch-parts.ts";
import { resultLine } from "./result-line.ts";

const LINES_AT_ONCE = 100;

/** Ends what has to end: lines of jobs whose window is over or that end otherwise, and jobs whose last line has ended. */
export async function endJobs(parts: BatchParts): Promise<void> {
  const { records, queue } = parts;
  if (await queue.isIdle) return;
  await records.endLines();
  for (let job = await records.takeEnded(); job !== undefined; job = await records.takeEnded()) await finish(parts, job);
}

async function finish(parts: BatchParts, job: BatchJob): Promise<void> {
  const output = await storeResults(parts, job, false);
  const errors = await storeResults(parts, job, true);
  const ended = await parts.records.end(job, output, errors);
  if (ended !== undefined) return parts.recordEnd(ended);
  // Another process was quicker: its files are the job's.
  for (const id of [output, errors]) if (id !== null) await parts.files.delete(ownerOfJob(job), { id });
}

const ownerOfJob = (job: BatchJob) => ({ tenantId: job.tenant_id, groupId: job.resource_group_id, userId: job.end_user_id });

/** The results as a file of the caller's; null where there are none of that kind, or they cannot be stored. */
async function storeResults(parts: BatchParts, job: BatchJob, failed: boolean): Promise<string | null> {
  const { records, files, snapshots, log } = parts;
  const [first] = await records.finished(job, { limit: 1, failed });
  const tenant = await snapshots.tenant(job.tenant_id);
  if (first === undefined || tenant === null) return null;
  const name = `${job.id}_${failed ? "errors" : "output"}.jsonl`;
  const facts = { kind: "batch_output" as const, purpose: "batch_output", displayName: name };
  const stored = await files.store(ownerOfJob(job), tenant, resultBytes(parts, job, failed), facts);
  if (!isRefusal(stored)) return stored.id;
  log.warn("batch_results_not_stored", { batch_job: job.id, reason: stored.reason ?? stored.code });
  return null;
}

/** The finished lines of a job as JSON lines, a page of them in memory at a time. */
export async function* resultBytes({ records }: Pick<BatchParts, "records">, job: BatchJob, failed?: boolean): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let after = 0; ;) {
    const lines = await records.finished(job, { after, limit: LINES_AT_ONCE, ...(failed === undefined ? {} : { failed }) });
    for (const line of lines) yield encoder.encode(`${resultLine(line)}\n`);
    const last = lines.at(-1);
    if (last === undefined || lines.length < LINES_AT_ONCE) return;
    after = last.seq;
  }
}
