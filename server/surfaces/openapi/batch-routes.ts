import * as batch from "@gatehouse/contracts/batch";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const JOBS = "/v1/proxy/batch/jobs";
const OPENAI = "/v1/proxy/llm/batches";
const ANTHROPIC = "/v1/messages/batches";

function job(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return {
    tag: "Batch jobs",
    summary,
    answer: "status" in answer ? answer : { status: 200, schema: answer },
    error: runtimeError,
    ...more,
  };
}

/** Descriptions of the batch routes in the runtime plane's OpenAPI document. */
export const BATCH_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${JOBS}`]: job("Create a batch job", { status: 201, schema: batch.batchJob }, { body: batch.batchJobRequest }),
  [`GET ${JOBS}`]: job("List batch jobs", batch.batchJobPage, { query: batch.batchJobPageQuery }),
  [`GET ${JOBS}/:batch_job_id`]: job("Retrieve a batch job", batch.batchJob),
  [`POST ${JOBS}/:batch_job_id/cancel`]: job("Cancel a batch job, keeping finished lines", batch.batchJob),
  [`GET ${JOBS}/:batch_job_id/results`]: job("Results of a batch job (JSON lines, or a page)", batch.batchResultPage, {
    query: batch.batchResultQuery,
  }),
  [`POST ${OPENAI}`]: job("Create a batch (OpenAI)", batch.openaiBatch, { body: batch.openaiBatchRequest }),
  [`GET ${OPENAI}`]: job("List batches (OpenAI)", batch.openaiBatchPage, { query: batch.openaiBatchPageQuery }),
  [`GET ${OPENAI}/:batch_job_id`]: job("Retrieve a batch (OpenAI)", batch.openaiBatch),
  [`POST ${OPENAI}/:batch_job_id/cancel`]: job("Cancel a batch (OpenAI)", batch.openaiBatch),
  [`POST ${ANTHROPIC}`]: job("Create a batch of messages (Anthropic)", batch.messageBatch, {
    body: batch.messageBatchRequest,
    optionalHeaders: ["anthropic-version"],
  }),
  [`GET ${ANTHROPIC}`]: job("List batches of messages (Anthropic)", batch.messageBatchPage, { query: batch.messageBatchPageQuery }),
  [`GET ${ANTHROPIC}/:batch_job_id`]: job("Retrieve a batch of messages (Anthropic)", batch.messageBatch),
  [`POST ${ANTHROPIC}/:batch_job_id/cancel`]: job("Cancel a batch of messages (Anthropic)", batch.messageBatch),
  [`DELETE ${ANTHROPIC}/:batch_job_id`]: job("Delete a batch of messages that has ended (Anthropic)", batch.deletedMessageBatch),
  [`GET ${ANTHROPIC}/:batch_job_id/results`]: job("Results of a batch of messages (Anthropic, JSON lines)", {
    status: 200,
    media: "application/x-jsonl",
  }),
};
