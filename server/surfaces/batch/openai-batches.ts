import { openaiBatchCreate, type OpenAIBatchRecord } from "@gatehouse/contracts/batch";
import { z } from "zod";
import { isRefusal, refuse } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import type { Surface } from "../../road/surface.ts";
import type { BatchService } from "../../services/batch/batch-service.ts";
import type { TakenJob } from "../../services/batch/batches.ts";
import { batchSurface, jobIdIn, noteJob, checkedQuery, submitSurface } from "./batch-request.ts";

/** OpenAI's own paths for batches, over the same jobs. */

const listQuery = z.strictObject({ after: z.string().max(100).optional(), limit: z.coerce.number().int().min(1).max(100).default(20) });

const seconds = (at: Date | null): number | null => (at === null ? null : Math.floor(at.getTime() / 1000));

function objectOf(job: TakenJob): OpenAIBatchRecord {
  const endedAs = (status: string) => (job.status === status ? seconds(job.ended_at) : null);
  const [input, output] = [job.prompt_tokens, job.completion_tokens];
  return {
    id: job.id,
    object: "batch",
    endpoint: job.endpoint,
    model: job.model,
    errors: errorsOf(job),
    input_file_id: job.input_file_id,
    completion_window: job.completion_window,
    status: job.status as OpenAIBatchRecord["status"],
    output_file_id: job.output_file_id,
    error_file_id: job.error_file_id,
    created_at: seconds(job.created_at) as number,
    in_progress_at: seconds(job.in_progress_at),
    expires_at: seconds(job.expires_at) as number,
    finalizing_at: seconds(job.finalizing_at),
    completed_at: endedAs("completed"),
    failed_at: endedAs("failed"),
    expired_at: endedAs("expired"),
    cancelling_at: seconds(job.cancelling_at),
    cancelled_at: endedAs("cancelled"),
    request_counts: { total: job.total, completed: job.completed, failed: job.failed + job.cancelled + job.expired },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
    metadata: job.metadata,
  };
}

function errorsOf({ error, problems }: TakenJob): OpenAIBatchRecord["errors"] {
  if (error === null) return null;
  const data = (problems ?? []).map(({ code, message, param, line }) => ({ code, message, param, line }));
  return { object: "list", data: data.length > 0 ? data : [{ ...error, param: null, line: null }] };
}

/** The model that the first line of the file asks for: all of a job are judged by it at first, and each by its own later. */
function modelOf(firstLine: string | null): string {
  try {
    const { body } = JSON.parse(firstLine ?? "") as { body?: { model?: unknown; model_id?: unknown } };
    const named = body?.model ?? body?.model_id;
    return typeof named === "string" ? named : "";
  } catch {
    return "";
  }
}

/** POST /v1/proxy/llm/batches */
export const openaiBatchSubmit = (batches: BatchService): Surface =>
  submitSurface(
    openaiBatchCreate,
    async (call, body) => {
      const first = await batches.firstLine(call, body.input_file_id);
      if (typeof first !== "string" && first !== null)
        return first.code === "file_not_found"
          ? refuse("invalid_body", undefined, { fields: [{ field: "input_file_id", message: "names no file of yours" }] })
          : first;
      const modelName = modelOf(first);
      if (modelName === "")
        return refuse("invalid_body", undefined, {
          fields: [{ field: "input_file_id", message: "has no first line whose body names a model" }],
        });
      return {
        endpoint: body.endpoint,
        model: null,
        modelName,
        completionWindow: body.completion_window,
        description: null,
        metadata: body.metadata ?? null,
        retryInterrupted: body.retry_interrupted,
      };
    },
    async (call, facts, body) => {
      const job = await batches.submit(call, facts, { fileId: body.input_file_id });
      if (isRefusal(job)) return job;
      noteJob(call, job);
      return jsonAnswer(objectOf(job));
    },
  );

/** GET /v1/proxy/llm/batches */
export const openaiBatches = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const { after, limit } = checkedQuery(listQuery, call);
    const { items } = await batches.list(call, {}, { limit: limit + 1, offset: 0, after });
    const shown = items.slice(0, limit);
    return jsonAnswer({
      object: "list",
      data: shown.map(objectOf),
      first_id: shown[0]?.id ?? null,
      last_id: shown.at(-1)?.id ?? null,
      has_more: items.length > limit,
    });
  });

/** GET /v1/proxy/llm/batches/{batch_id} */
export const openaiBatchDetail = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const job = await batches.find(call, jobIdIn(call));
    if (isRefusal(job)) return job;
    noteJob(call, job);
    return jsonAnswer(objectOf(job));
  });

/** POST /v1/proxy/llm/batches/{batch_id}/cancel */
export const openaiBatchCancel = (batches: BatchService): Surface =>
  batchSurface(async (call) => {
    const job = await batches.cancel(call, jobIdIn(call));
    if (isRefusal(job)) return job;
    noteJob(call, job);
    return jsonAnswer(objectOf(job));
  });
