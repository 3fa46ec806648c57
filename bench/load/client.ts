import type { Job, JobResult } from "./job.ts";
import { runJob } from "./run-job.ts";

/** The load client: a separate process that runs one job after the other. */

const failed = (error: unknown): JobResult => ({
  calls: 0,
  errors: 1,
  messages: [error instanceof Error ? error.message : String(error)],
  elapsedMs: 0,
  p50Ms: 0,
  p99Ms: 0,
  firstByteP50Ms: 0,
  clientCpuSeconds: 0,
});

process.on("message", (job: Job) => {
  runJob(job).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.(failed(error)),
  );
});
process.on("disconnect", () => process.exit(0));
