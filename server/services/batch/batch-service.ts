import type { Job } from "../../kernel/job.ts";
import type { BatchJob } from "../../directory/batch/batch-records.ts";
import { Batches } from "./batches.ts";
import type { BatchParts } from "./batch-parts.ts";
import { endJobs, resultBytes } from "./end-jobs.ts";
import { LineRunner } from "./line-runner.ts";

const ENDED_MS = 500;
const PRUNED_MS = 60_000;

/** What surfaces work with. */
export type BatchService = Pick<Batches, "submit" | "find" | "list" | "cancel" | "results" | "firstLine"> & {
  /** The finished lines as JSON lines. */
  resultBytes(job: BatchJob): AsyncIterable<Uint8Array>;
};

/** Batch jobs: taken by surfaces, carried out line by line, ended by a worker of any process. */
export function openBatches(parts: BatchParts) {
  const runner = new LineRunner(parts);
  const batches = new Batches(parts, runner.wake);
  const service: BatchService = {
    submit: (...given) => batches.submit(...given),
    find: (...given) => batches.find(...given),
    list: (...given) => batches.list(...given),
    cancel: (...given) => batches.cancel(...given),
    results: (...given) => batches.results(...given),
    firstLine: (...given) => batches.firstLine(...given),
    resultBytes: (job) => resultBytes(parts, job),
  };
  const jobs: readonly Job[] = [
    { name: "end_batch_jobs", everyMs: ENDED_MS, run: () => endJobs(parts) },
    { name: "prune_batch_jobs", everyMs: PRUNED_MS, run: () => parts.records.prune() },
  ];
  return { service, jobs, start: () => runner.start(), stop: () => runner.stop() };
}
