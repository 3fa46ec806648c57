import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

const text = z.string().nullable();
const count = z.number().int();
const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((all) => Object.keys(all).length <= 16, "has more than 16 members");

/** Body of a batch job submission. */
export const batchJobRequest = z
  .strictObject({
    model: z.string().min(1).max(255).nullish(),
    model_id: z.string().min(1).max(255).nullish(),
    endpoint: z.string().max(100).nullish().describe("default: /v1/chat/completions"),
    completion_window: z.string().max(10).nullish().describe("from 1h to 7d; default: 24h"),
    requests: z.array(
      z.strictObject({
        custom_id: z.string().min(1).max(512),
        body: z.record(z.string(), z.unknown()),
        method: z.literal("POST").optional(),
        url: z.string().optional(),
      }),
    ),
    description: z.string().max(1000).nullish(),
    metadata: metadata.nullish(),
    retry_interrupted: z.boolean().optional().describe("whether a line is sent again if its call may have reached its provider"),
  })
  .meta({ id: "BatchJobRequest" });

const problem = z.strictObject({ code: z.string(), message: z.string() });

export const batchJob = z
  .strictObject({
    id: z.string(),
    status: z.enum(["validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"]),
    total_requests: count,
    endpoint: z.string(),
    completion_window: z.string(),
    created_at: timestamp,
    model: text.describe("null where its lines name several"),
    model_id: text,
    description: text,
    metadata: z.record(z.string(), z.string()).nullable(),
    request_counts: z.strictObject({ total: count, completed: count, failed: count, cancelled: count, expired: count }),
    mode: z.enum(["provider", "gateway"]),
    cost_usd: z.number().describe("sum of its lines' rows so far"),
    unpriced_requests: count,
    in_progress_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    expires_at: timestamp,
    error: problem.nullable().describe("why it failed, or why it waits"),
    paused_until: timestamp.nullable(),
    output_file_id: text,
    error_file_id: text,
    retry_interrupted: z.boolean(),
  })
  .meta({ id: "BatchJob" });

export const batchJobPage = z
  .strictObject({ jobs: z.array(batchJob), total: count, limit: count, offset: count, page: count, page_size: count })
  .meta({ id: "BatchJobPage" });

export const batchJobPageQuery = z.strictObject({
  status: batchJob.shape.status.optional(),
  limit: count.optional(),
  offset: count.optional(),
  page: count.optional(),
  page_size: count.optional(),
});

export const batchResult = z
  .strictObject({
    id: z.string(),
    custom_id: z.string(),
    response: z.strictObject({ status_code: count, request_id: text, body: z.unknown() }).nullable(),
    error: problem.nullable(),
  })
  .meta({ id: "BatchResult" });

export const batchResultPage = z
  .strictObject({ results: z.array(batchResult), total: count, page: count, page_size: count })
  .meta({ id: "BatchResultPage" });

export const batchResultQuery = z.strictObject({ page: count.optional(), page_size: count.optional() });

/** Body of a batch submission in OpenAI's format. */
export const openaiBatchRequest = z
  .strictObject({
    input_file_id: z.string().min(1).max(100),
    endpoint: z.string().max(100),
    completion_window: z.string().max(10),
    metadata: metadata.nullish(),
    output_expires_after: z
      .strictObject({ anchor: z.literal("created_at"), seconds: z.number().int().min(3_600).max(2_592_000) })
      .nullish()
      .describe("when the result files expire, if before the tenant's file retention"),
  })
  .meta({ id: "OpenAIBatchRequest" });

export const openaiBatch = z
  .looseObject({ id: z.string(), object: z.literal("batch"), status: batchJob.shape.status })
  .meta({ id: "OpenAIBatch" });

export const openaiBatchPage = z
  .strictObject({ object: z.literal("list"), data: z.array(openaiBatch), first_id: text, last_id: text, has_more: z.boolean() })
  .meta({ id: "OpenAIBatchList" });

export const openaiBatchPageQuery = z.strictObject({ after: z.string().optional(), limit: count.optional() });

/** Body of a batch submission in Anthropic's format. */
export const messageBatchRequest = z
  .strictObject({
    requests: z.array(
      z.looseObject({ custom_id: z.string().min(1).max(512), params: z.looseObject({ model: z.string(), max_tokens: count }) }),
    ),
  })
  .meta({ id: "MessageBatchRequest" });

export const messageBatch = z
  .strictObject({
    id: z.string(),
    type: z.literal("message_batch"),
    processing_status: z.enum(["in_progress", "canceling", "ended"]),
    request_counts: z
      .strictObject({ processing: count, succeeded: count, errored: count, canceled: count, expired: count })
      .describe("all are processing until the batch has ended"),
    created_at: z.string(),
    expires_at: z.string(),
    ended_at: text,
    archived_at: z.null(),
    cancel_initiated_at: text,
    results_url: text.describe("where the results are, once the batch has ended"),
  })
  .meta({ id: "MessageBatch" });

export const messageBatchPage = z
  .strictObject({ data: z.array(messageBatch), has_more: z.boolean(), first_id: text, last_id: text })
  .meta({ id: "MessageBatchPage" });

export const messageBatchPageQuery = z.strictObject({
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  limit: count.optional(),
});

export const deletedMessageBatch = z
  .strictObject({ id: z.string(), type: z.literal("message_batch_deleted") })
  .meta({ id: "DeletedMessageBatch" });

const ofWhom = { resource_group_id: z.string(), end_user_id: text.describe("the owner; null for a key's job"), api_key_id: text };

/** A batch job as shown to administrators. */
export const adminBatchJob = batchJob.extend(ofWhom).meta({ id: "AdminBatchJob" });

export const adminBatchJobDetail = batchJob
  .extend({
    ...ofWhom,
    errors_by_kind: z
      .array(z.strictObject({ code: z.string(), count }))
      .describe("of lines that failed so far, the most frequent first; at most 50 kinds"),
    provider_batches: z
      .array(z.strictObject({ id: z.string(), provider_batch: text, lines: count, state: z.enum(["waiting", "running", "ended"]) }))
      .describe("batches submitted to the provider, for a job that it runs; the newest 200"),
  })
  .meta({ id: "AdminBatchJobDetail" });

export const adminBatchJobQuery = z.strictObject({
  ...pageQuery.shape,
  status: batchJob.shape.status.optional(),
  resource_group_id: recordId.optional(),
});
