import { z } from "zod";
import { timestamp } from "./conventions.ts";

const count = z.number().int();
const lineError = z.strictObject({ code: z.string(), message: z.string() });
const BATCH_STATUSES = ["validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"] as const;
const ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/completions", "/v1/embeddings", "/v1/moderations"] as const;
const completionWindow = z
  .string()
  .regex(/^(?:[1-9]|[1-9]\d|1[0-5]\d|16[0-8])h$|^[1-7]d$/, "must be from 1h to 7d")
  .default("24h")
  .describe("how long it may take, from 1h to 7d");
const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, "has at most 16 members")
  .nullable()
  .optional();
const retryInterrupted = z
  .boolean()
  .default(false)
  .describe("whether a line is tried again that a gateway died over, though the provider may have carried it out");

export const batchStatus = z.enum(BATCH_STATUSES);

export const batchJobCreate = z
  .strictObject({
    model: z.string().min(1).max(200).optional().describe("of all lines; this or model_id"),
    model_id: z.string().min(1).max(200).optional(),
    endpoint: z.enum(ENDPOINTS).default("/v1/chat/completions"),
    completion_window: completionWindow,
    requests: z
      .array(z.unknown())
      .min(1)
      .max(50_000)
      .describe("what is asked, each with a custom_id of its own and a body as a call of the endpoint has it"),
    description: z.string().max(4000).nullable().optional(),
    metadata,
    retry_interrupted: retryInterrupted,
  })
  .refine(({ model, model_id: id }) => (model === undefined) !== (id === undefined), {
    message: "is required, or model_id",
    path: ["model"],
  })
  .meta({ id: "BatchJobCreate" });

export const batchJob = z
  .strictObject({
    id: z.string(),
    status: batchStatus,
    total_requests: count,
    endpoint: z.string(),
    completion_window: z.string(),
    created_at: timestamp,
    model: z.string(),
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
    retry_interrupted: z.boolean(),
    request_counts: z.strictObject({ total: count, completed: count, failed: count, cancelled: count, expired: count }),
    mode: z.enum(["provider", "gateway"]).describe("who carries the lines out; a provider's own batches have their own price"),
    cost_usd: z.number().describe("of the lines that have ended"),
    paused: z
      .strictObject({ code: z.string(), message: z.string(), until: timestamp })
      .nullable()
      .describe("why it waits, where a limit or the provider says so"),
    input_file_id: z.string().nullable(),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    expires_at: timestamp,
    ended_at: timestamp.nullable(),
    error: lineError.nullable(),
  })
  .meta({ id: "BatchJob" });

export const batchJobPage = z
  .strictObject({ jobs: z.array(batchJob), total: count, page: count, page_size: count })
  .meta({ id: "BatchJobPage" });

export const batchJobQuery = z.strictObject({
  status: batchStatus.optional(),
  limit: count.max(200).optional(),
  offset: count.optional(),
  page: count.optional(),
  page_size: count.max(200).optional(),
});

export const batchResult = z
  .strictObject({
    id: z.string(),
    custom_id: z.string(),
    response: z.strictObject({ status_code: count, request_id: z.string(), body: z.unknown() }).nullable(),
    error: lineError.nullable(),
  })
  .meta({ id: "BatchResult" });

export const batchResultPage = z
  .strictObject({ results: z.array(batchResult), total: count, page: count, page_size: count })
  .meta({ id: "BatchResultPage" });

export const batchResultQuery = z.strictObject({ page: count.optional(), page_size: count.max(200).optional() });

/** As OpenAI's clients make one. */
export const openaiBatchCreate = z
  .strictObject({
    input_file_id: z.string().min(1).max(100),
    endpoint: z.enum(ENDPOINTS),
    completion_window: completionWindow,
    metadata,
    output_expires_after: z.strictObject({ anchor: z.literal("created_at"), seconds: count.min(3_600).max(2_592_000) }).optional(),
    retry_interrupted: retryInterrupted,
  })
  .meta({ id: "OpenAIBatchCreate" });

const seconds = count.nullable();
export const openaiBatch = z
  .strictObject({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    model: z.string(),
    errors: z
      .strictObject({
        object: z.literal("list"),
        data: z.array(z.strictObject({ code: z.string(), message: z.string(), param: z.string().nullable(), line: count.nullable() })),
      })
      .nullable(),
    input_file_id: z.string().nullable(),
    completion_window: z.string(),
    status: batchStatus,
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: count,
    in_progress_at: seconds,
    expires_at: count,
    finalizing_at: seconds,
    completed_at: seconds,
    failed_at: seconds,
    expired_at: seconds,
    cancelling_at: seconds,
    cancelled_at: seconds,
    request_counts: z.strictObject({ total: count, completed: count, failed: count }),
    usage: z.strictObject({
      input_tokens: count,
      input_tokens_details: z.strictObject({ cached_tokens: count }),
      output_tokens: count,
      output_tokens_details: z.strictObject({ reasoning_tokens: count }),
      total_tokens: count,
    }),
    metadata: z.record(z.string(), z.string()).nullable(),
  })
  .meta({ id: "OpenAIBatch" });

export const openaiBatchList = z
  .strictObject({
    object: z.literal("list"),
    data: z.array(openaiBatch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "OpenAIBatchList" });

export const openaiBatchQuery = z.strictObject({ after: z.string().optional(), limit: count.max(100).optional() });

export type BatchJobRecord = z.output<typeof batchJob>;
export type OpenAIBatchRecord = z.output<typeof openaiBatch>;
