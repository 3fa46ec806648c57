import { batchJobCreate, type BatchJobRecord, batchStatus } from "@gatehouse/contracts/batch";
import { z } from "zod";
import { isRefusal } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { jsonAnswer, ownAnswer, type StreamAnswer } from "../../road/answer.ts";
import type { Surface } from "../../road/surface.ts";
import type { BatchService } from "../../services/batch/batch-service.ts";
import type { TakenJob } from "../../services/batch/batches.ts";
import { resultLine } from "../../services/batch/result-line.ts";
import { PASSED_STREAM } from "../../wire/stream.ts";
import { batchSurface, jobIdIn, noteJob, checkedQuery, submitSurface } from "./batch-request.ts";

const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most).optional();
const pageMembers = { page: whole(1, 1_000_000), page_size: whole(1, 200) };
const listQuery = z.strictObject({ status: batchStatus.optional(), ...pageMembers, limit: whole(1, 200), offset: whole(0, 10_000_000) });
const resultsQuery = z.strictObject(pageMembers);
const USUAL_PAGE = 50;

function recordOf(job: TakenJob): BatchJobRecord {
  const { total, completed, failed, cancelled, expired } = job;
  return {
    id: job.id,
    status: job.status as BatchJobRecord["status"],
    total_requests: total,
    endpoint: job.endpoint,
    completion_window: job.completion_window,
    created_at: job.created_at.toISOString(),
    model: job.model,
    description: job.description,
    metadata: job.metadata,
    retry_interrupted: job.retry_interrupted,
    request_counts: { total, completed, failed, cancelled, expired },
    mode: "gateway",
    cost_usd: usdFromMicros(job.cost_micros),
    paused: job.paused,
    input_file_id: job.input_file_id,
    output_file_id: job.output_file_id,
    error_file_id: job.error_file_id,
    expires_at: job.expires_at.toISOString(),
    ended_at: job.ended_at?.toISOString() ?? null,
    error: job.error,
  };
}

/** POST /v1/proxy/batch/jobs (interface 4.3) */
export const batchSubmit = (batches: BatchService): Surface =>
  submitSurface(
    batchJobCreate,
    (_call, body) => ({
      endpoint: body.endpoint,
      model: body.model === undefined ? { model_id: body.model_id ?? "" } : { model: body.model },
      modelName: body.model ?? body.model_id ?? "",
      completionWindow: body.completion_window,
      description: body.description ?? null,
      metadata: body.metadata ?? null,
      retryInterrupted: body.retry_interrupted,
    }),
    async (call, facts, body) => {
      const job = await batches.submit(call, facts, { lines: body.requests });
      if (isRefusal(job)) return job;
      noteJob(call, job);
      return ownAnswer(201, { "content-type": "application/json" }, JSON.stringify(recordOf(job)));
    },
  );

/** GET /v1/proxy/batch/jobs */
export const batchList = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const { status, page, page_size: size, limit, offset } = checkedQuery(listQuery, call);
    const pageSize = limit ?? size ?? USUAL_PAGE;
    const skipped = offset ?? ((page ?? 1) - 1) * pageSize;
    const { items, total } = await batches.list(call, { status }, { limit: pageSize, offset: skipped });
    return jsonAnswer({ jobs: items.map(recordOf), total, page: Math.floor(skipped / pageSize) + 1, page_size: pageSize });
  });

/** GET /v1/proxy/batch/jobs/{batch_job_id} */
export const batchDetail = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const job = await batches.find(call, jobIdIn(call));
    if (isRefusal(job)) return job;
    noteJob(call, job);
    return jsonAnswer(recordOf(job));
  });

/** POST /v1/proxy/batch/jobs/{batch_job_id}/cancel */
export const batchCancel = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const job = await batches.cancel(call, jobIdIn(call));
    if (isRefusal(job)) return job;
    noteJob(call, job);
    return jsonAnswer(recordOf(job));
  });

/** GET /v1/proxy/batch/jobs/{batch_job_id}/results: JSON lines, or with a page a page of them. */
export const batchResults = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const { page, page_size: given } = checkedQuery(resultsQuery, call);
    const job = await batches.find(call, jobIdIn(call));
    if (isRefusal(job)) return job;
    noteJob(call, job);
    if (page === undefined && given === undefined) return streamOf(batches.resultBytes(job));
    const size = given ?? USUAL_PAGE;
    const lines = await batches.results(job, { limit: size, offset: ((page ?? 1) - 1) * size });
    const total = job.completed + job.failed + job.cancelled + job.expired;
    // The answers of lines stand as they were given.
    const text = `{"results":[${lines.map(resultLine).join(",")}],"total":${total},"page":${page ?? 1},"page_size":${size}}`;
    return ownAnswer(200, { "content-type": "application/json" }, text);
  });

function streamOf(bytes: AsyncIterable<Uint8Array>): StreamAnswer {
  return {
    kind: "stream",
    status: 200,
    headers: { "content-type": "application/jsonl", "cache-control": "private, no-store", "x-content-type-options": "nosniff" },
    upstream: streamFrom(bytes).getReader(),
    codec: PASSED_STREAM,
    head: [],
    inputCharacters: null,
    sender: "store of batch results",
    bytes: true,
  };
}

function streamFrom(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
