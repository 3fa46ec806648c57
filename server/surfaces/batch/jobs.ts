import type { CallerJob } from "../../services/batch/batch-service.ts";
import { batchJobRequest } from "@gatehouse/contracts/batch";
import type { z } from "zod";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { type Answer, jsonAnswer, ownAnswer, type StreamAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { type BatchService, type JobFacts, windowMs } from "../../services/batch/batch-service.ts";
import { isBatchEndpoint } from "../../services/batch/endpoints.ts";
import { isOver, resultLines, resultPage } from "../../services/batch/results.ts";
import { callerOf } from "../../services/files/caller.ts";
import { streamOfPieces } from "../../kernel/http/stream-of-pieces.ts";
import { PASSED_STREAM } from "../../wire/streams/stream.ts";
import { fileSurface, queryOf, wholeNumber } from "../files/files.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { submittedRequests } from "./submit-requests.ts";

const STATUSES = ["validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"];
const MAX_PER_PAGE = 200;
const USUAL_PAGE = 50;

export const batchIdIn = (call: Call): string => /\/(?:jobs|batches)\/([A-Za-z0-9_]{1,100})(?:\/|$)/.exec(call.path)?.[1] ?? "";

export const countsOf = ({ total_requests: total, completed, failed, ends_as: endsAs, ended_at: endedAt }: CallerJob) => {
  const left = endedAt === null ? 0 : total - completed - failed;
  const cancelled = endsAs === "cancelled" ? left : 0;
  const expired = endsAs === "expired" ? left : 0;
  return { total, completed, failed: failed + left - cancelled - expired, cancelled, expired };
};

/** A job, as its callers see it. */
export function batchRecordOf(job: CallerJob): object {
  const { id, status, total_requests, endpoint, completion_window, model, model_id, description, metadata, error } = job;
  const { created_at, in_progress_at, ended_at, expires_at, paused_until, output_file_id, error_file_id, retry_interrupted } = job;
  return {
    ...{ id, status, total_requests, endpoint, completion_window, created_at, model, model_id, description, metadata },
    request_counts: countsOf(job),
    mode: job.mode,
    cost_usd: usdFromMicros(job.cost_micro_usd),
    unpriced_requests: job.unpriced,
    ...{ in_progress_at, ended_at, expires_at, error, paused_until, output_file_id, error_file_id, retry_interrupted },
  };
}

const invalidFact = (field: string, message: string): Refusal => invalidRequest([{ field, message }]);

/** The facts about a job in the body, besides its lines. */
function factsOf(data: z.infer<typeof batchJobRequest>): JobFacts | Refusal {
  const endpoint = data.endpoint ?? "/v1/chat/completions";
  const completionWindow = data.completion_window ?? "24h";
  if (!isBatchEndpoint(endpoint)) return invalidFact("endpoint", "is no endpoint that batches have");
  if (windowMs(completionWindow, true) === null) return invalidFact("completion_window", "must be from 1h to 7d, in hours (h) or days (d)");
  if (data.model == null && data.model_id == null) return invalidFact("model", "is required, or model_id");
  return {
    ...{ endpoint, completionWindow, model: data.model_id == null ? (data.model ?? null) : null, modelId: data.model_id ?? null },
    description: data.description ?? null,
    metadata: data.metadata ?? null,
    ...{ retryInterrupted: data.retry_interrupted ?? false, resultsExpireSeconds: null, vendorHeaders: null },
  };
}

/** POST /v1/proxy/batch/jobs */
export const batchSubmit = (batches: BatchService): Surface => ({
  ...llmRefusals,
  read: (call) =>
    submittedRequests(call, batches, { lineForm: "body", body: batchJobRequest, factsOf }, (job) =>
      ownAnswer(201, { "content-type": "application/json" }, JSON.stringify(batchRecordOf(job))),
    ),
});

/** GET /v1/proxy/batch/jobs */
export const batchList = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["status", "limit", "offset", "page", "page_size"]);
    if (isRefusal(query)) return query;
    const status = query.get("status");
    if (status !== undefined && !STATUSES.includes(status))
      return refuse("invalid_query", undefined, { fields: [{ field: "status", message: `must be one of ${STATUSES.join(", ")}` }] });
    const limit = wholeNumber(query, query.has("limit") ? "limit" : "page_size", USUAL_PAGE, 1, MAX_PER_PAGE);
    if (typeof limit !== "number") return limit;
    const page = wholeNumber(query, "page", 1, 1, 1_000_000);
    if (typeof page !== "number") return page;
    const offset = wholeNumber(query, "offset", (page - 1) * limit, 0, 9_999_999);
    if (typeof offset !== "number") return offset;
    const { items, total } = await batches.store.list(callerOf(call).owner, status, { limit, offset });
    const shown = { limit, offset, page: Math.floor(offset / limit) + 1, page_size: limit };
    return jsonAnswer({ jobs: items.map(batchRecordOf), total, ...shown });
  });

/** GET /v1/proxy/batch/jobs/{batch_job_id} */
export const batchDetail = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const job = await batches.find(callerOf(call).owner, batchIdIn(call));
    return isRefusal(job) ? job : jsonAnswer(batchRecordOf(job));
  });

/** POST /v1/proxy/batch/jobs/{batch_job_id}/cancel */
export const batchCancel = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const job = await batches.cancel(callerOf(call).owner, batchIdIn(call));
    return isRefusal(job) ? job : jsonAnswer(batchRecordOf(job));
  });

/** GET /v1/proxy/batch/jobs/{batch_job_id}/results */
export const batchResults = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["page", "page_size"]);
    if (isRefusal(query)) return query;
    const job = await batches.find(callerOf(call).owner, batchIdIn(call));
    if (isRefusal(job)) return job;
    return query.size === 0 ? streamed(batches, job) : pageAnswer(batches, job, query);
  });

async function pageAnswer(batches: BatchService, job: CallerJob, query: ReadonlyMap<string, string>): Promise<Answer | Refusal> {
  const page = wholeNumber(query, "page", 1, 1, 1_000_000);
  const size = wholeNumber(query, "page_size", USUAL_PAGE, 1, MAX_PER_PAGE);
  if (typeof page !== "number") return page;
  if (typeof size !== "number") return size;
  const { lines, total } = await batches.store.page(job, { limit: size, offset: (page - 1) * size }, !isOver(job));
  return streamedResults(resultPage(batches.store, job, lines, { total, page, page_size: size }), "application/json");
}

function streamed(batches: BatchService, job: CallerJob): Answer {
  return streamedResults(resultLines(batches.store, job), "application/jsonl");
}

/** Streams results as they are read from the store. */
export function streamedResults(pieces: AsyncGenerator<Uint8Array>, contentType: string): Answer {
  return {
    kind: "stream",
    status: 200,
    headers: { "content-type": contentType, "x-content-type-options": "nosniff", "cache-control": "private, no-store" },
    upstream: streamOfPieces(pieces).getReader(),
    ...{ codec: PASSED_STREAM, head: [], inputCharacters: null, sender: "store of results", bytes: true },
  } satisfies StreamAnswer;
}
