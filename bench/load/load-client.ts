import { type Helper, startHelper } from "../processes/helper.ts";
import type { Job, JobResult } from "./job.ts";

export class LoadClient {
  readonly #helper: Helper<Job, JobResult> = startHelper<Job, JobResult>("load client", new URL("./client.ts", import.meta.url), "load");

  run(job: Job): Promise<JobResult> {
    return this.#helper.ask(job, job.durationMs + 30_000);
  }
}
