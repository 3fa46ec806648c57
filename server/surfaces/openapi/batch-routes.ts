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
  [`POST ${JOBS}`]: job("Makes a batch job", { status: 201, schema: batch.batchJob }, { body: batch.batchJobCreate }),
  [`GET ${JOBS}`]: job("The batch jobs the caller may read", batch.batchJobPage, { query: batch.batchJobQuery }),
  [`GET ${JOBS}/:batch_job_id`]: job("A batch job", batch.batchJob),
  [`POST ${JOBS}/:batch_job_id/cancel`]: job("Cancels it: lines that are not begun end, and what is done stays", batch.batchJob),
  [`GET ${JOBS}/:batch_job_id/results`]: job(
    "Results of the lines that have ended, as JSON lines in the order of the input; with a page as a page of them",
    { status: 200, schema: batch.batchResultPage, media: "application/jsonl" },
    { query: batch.batchResultQuery },
  ),
  [`POST ${OPENAI}`]: job("Makes a batch job of a stored file, in OpenAI's form", batch.openaiBatch, { body: batch.openaiBatchCreate }),
  [`GET ${OPENAI}`]: job("The batch jobs the caller may read, in OpenAI's form", batch.openaiBatchList, { query: batch.openaiBatchQuery }),
  [`GET ${OPENAI}/:batch_id`]: job("A batch job, in OpenAI's form", batch.openaiBatch),
  [`POST ${OPENAI}/:batch_id/cancel`]: job("Cancels it, in OpenAI's form", batch.openaiBatch),
};
