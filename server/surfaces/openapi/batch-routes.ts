import * as batch from "@gatehouse/contracts/batch";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const JOBS = "/v1/proxy/batch/jobs";
const OPENAI = "/v1/proxy/llm/batches";

function job(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return {
    tag: "Batch jobs",
    summary,
    answer: "status" in answer ? answer : { status: 200, schema: answer },
    error: runtimeError,
    ...more,
  };
}

/** What the runtime plane's document says of the routes of batch jobs. */
export const BATCH_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${JOBS}`]: job("Submits a batch job", { status: 201, schema: batch.batchJob }, { body: batch.batchJobRequest }),
  [`GET ${JOBS}`]: job("The caller's jobs", batch.batchJobPage, { query: batch.batchJobPageQuery }),
  [`GET ${JOBS}/:batch_job_id`]: job("A job", batch.batchJob),
  [`POST ${JOBS}/:batch_job_id/cancel`]: job("Cancels it, and keeps what is done", batch.batchJob),
  [`GET ${JOBS}/:batch_job_id/results`]: job("Its results as JSON lines, or as a page where one is asked for", batch.batchResultPage, {
    query: batch.batchResultQuery,
  }),
  [`POST ${OPENAI}`]: job("Submits a file as a batch job, in OpenAI's form", batch.openaiBatch, { body: batch.openaiBatchRequest }),
  [`GET ${OPENAI}`]: job("The caller's jobs, in OpenAI's form", batch.openaiBatchPage, { query: batch.openaiBatchPageQuery }),
  [`GET ${OPENAI}/:batch_job_id`]: job("A job, in OpenAI's form", batch.openaiBatch),
  [`POST ${OPENAI}/:batch_job_id/cancel`]: job("Cancels it, in OpenAI's form", batch.openaiBatch),
};
