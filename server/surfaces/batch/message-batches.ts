import { messageBatchRequest } from "@gatehouse/contracts/batch";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import type { BatchService, CallerJob, JobFacts } from "../../services/batch/batch-service.ts";
import { errorOfLine, type resultLineOf, resultLines } from "../../services/batch/results.ts";
import { callerOf, type FileService } from "../../services/files/caller.ts";
import { errorTypeOf } from "../../wire/messages/fault.ts";
import { MESSAGES_VERSION } from "../../wire/messages/messages-version.ts";
import { queryOf, wholeNumber } from "../files/files.ts";
import { vendorHeaders } from "../llm/conversation.ts";
import { messagesPage, recordSurface } from "../messages/records.ts";
import { messagesRefusals } from "../messages/refusals.ts";
import { batchIdIn, countsOf, streamedResults } from "./jobs.ts";
import { submittedRequests } from "./submit-requests.ts";

/** Anthropic's paths for message batches, over the same jobs: requests come in the body, and results are fetched. */

const ENDPOINT = "/v1/messages";
const MAX_LISTED = 1_000;
const USUAL = 20;
/** Beta names sent by batch clients that providers of messages do not know. */
const BETA_OF_BATCHES = /^message-batches-/;

export interface MessageBatches {
  readonly batches: BatchService;
  /** Null to use the address by which each caller reached the gateway. */
  readonly publicUrl: string | null;
}

const PROCESSING: Readonly<Partial<Record<CallerJob["status"], string>>> = {
  ...{ validating: "in_progress", in_progress: "in_progress", finalizing: "in_progress", cancelling: "canceling" },
};

/** The URL of a batch's results. */
const resultsUrl = (call: Call, { id }: CallerJob, publicUrl: string | null): string =>
  new URL(`/v1/messages/batches/${id}/results`, publicUrl ?? call.url).href;

/** Counts of an ended batch's lines by result type. */
async function outcomesOf(batches: BatchService, job: CallerJob): Promise<object> {
  const { completed, failed, cancelled, expired } = countsOf(job);
  // Lines that a provider's own batch did not get to are stored as failures with that reason.
  const kinds = job.mode === "provider" && job.failed > 0 ? await batches.store.errorKinds(job) : [];
  const because = (wanted: string) => kinds.find(({ code }) => code === wanted)?.count ?? 0;
  const [off, late] = [because("batch_cancelled"), because("batch_expired")];
  return { processing: 0, succeeded: completed, errored: failed - off - late, canceled: cancelled + off, expired: expired + late };
}

/** A batch in Anthropic's form. Outcomes are counted only once the whole batch has ended. */
async function objectOf(call: Call, job: CallerJob, { batches, publicUrl }: MessageBatches): Promise<object> {
  const ended = job.ended_at !== null;
  const underWay = { processing: job.total_requests, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  return {
    ...{ id: job.id, type: "message_batch", processing_status: PROCESSING[job.status] ?? "ended" },
    request_counts: ended ? await outcomesOf(batches, job) : underWay,
    ...{ created_at: job.created_at, expires_at: job.expires_at, ended_at: job.ended_at, archived_at: null },
    cancel_initiated_at: job.cancelling_at,
    results_url: ended ? resultsUrl(call, job, publicUrl) : null,
  };
}

/** Headers to pass to providers with each message; null if there are none. */
function headersForVendors(call: Call): Record<string, string> | null {
  const { "anthropic-beta": betaHeader = "", "anthropic-version": version = MESSAGES_VERSION } = vendorHeaders(call, [
    "anthropic-version",
    "anthropic-beta",
  ]);
  const betas = betaHeader.split(",").map((beta) => beta.trim());
  const vendorBetas = betas.filter((beta) => beta !== "" && !BETA_OF_BATCHES.test(beta)).join(",");
  const headers = {
    ...(version === MESSAGES_VERSION ? {} : { "anthropic-version": version }),
    ...(vendorBetas === "" ? {} : { "anthropic-beta": vendorBetas }),
  };
  return Object.keys(headers).length === 0 ? null : headers;
}

/** POST /v1/messages/batches */
export const messageBatchCreate = (of: MessageBatches): Surface => ({
  ...messagesRefusals,
  read(call) {
    const factsOf = (): JobFacts => ({
      ...{ endpoint: ENDPOINT, completionWindow: "24h", model: null, modelId: null, description: null, metadata: null },
      ...{ retryInterrupted: false, resultsExpireSeconds: null, vendorHeaders: headersForVendors(call) },
    });
    return submittedRequests(call, of.batches, { lineForm: "params", body: messageBatchRequest, factsOf }, async (job) =>
      jsonAnswer(await objectOf(call, job, of)),
    );
  },
});

/** One of the caller's own message batches. */
async function batchOf(call: Call, batches: BatchService): Promise<CallerJob | Refusal> {
  const job = await batches.find(callerOf(call).owner, batchIdIn(call));
  return isRefusal(job) || job.endpoint === ENDPOINT ? job : refuse("batch_not_found");
}

/** GET /v1/messages/batches */
export const messageBatchList = (of: MessageBatches): Surface =>
  recordSurface(async (call) => {
    const query = queryOf(call, ["after_id", "before_id", "limit", "beta"]);
    if (isRefusal(query)) return query;
    const limit = wholeNumber(query, "limit", USUAL, 1, MAX_LISTED);
    if (typeof limit !== "number") return limit;
    const [after, before] = [query.get("after_id"), query.get("before_id")];
    const page = { limit: limit + 1, offset: 0, after, before, endpoint: ENDPOINT };
    const { items } = await of.batches.store.list(callerOf(call).owner, undefined, page);
    const { shown, ends } = messagesPage(items, limit, before);
    const data: object[] = [];
    for (const job of shown) data.push(await objectOf(call, job, of));
    return jsonAnswer({ data, ...ends });
  });

/** GET /v1/messages/batches/{message_batch_id} */
export const messageBatchDetail = (of: MessageBatches): Surface =>
  recordSurface(async (call) => {
    const job = await batchOf(call, of.batches);
    return isRefusal(job) ? job : jsonAnswer(await objectOf(call, job, of));
  });

/** POST /v1/messages/batches/{message_batch_id}/cancel */
export const messageBatchCancel = (of: MessageBatches): Surface =>
  recordSurface(async (call) => {
    const found = await batchOf(call, of.batches);
    const job = isRefusal(found) ? found : await of.batches.cancel(callerOf(call).owner, found.id);
    return isRefusal(job) ? job : jsonAnswer(await objectOf(call, job, of));
  });

/** DELETE /v1/messages/batches/{message_batch_id}: deletes an ended batch with its results. */
export const messageBatchDelete = (batches: BatchService, files: FileService): Surface =>
  recordSurface(async (call) => {
    const found = await batchOf(call, batches);
    const { owner } = callerOf(call);
    const job = isRefusal(found) ? found : await batches.remove(owner, found.id);
    if (isRefusal(job)) return job;
    for (const id of [job.output_file_id, job.error_file_id]) if (id !== null) await files.delete(owner, { id });
    return jsonAnswer({ id: job.id, type: "message_batch_deleted" });
  });

/** GET /v1/messages/batches/{message_batch_id}/results */
export const messageBatchResults = (batches: BatchService): Surface =>
  recordSurface(async (call) => {
    const job = await batchOf(call, batches);
    if (isRefusal(job)) return job;
    if (job.ended_at === null) return refuse("batch_under_way");
    return streamedResults(resultLines(batches.store, job, undefined, messageResultOf), "application/x-jsonl");
  });

/** One line of results in Anthropic's form. */
const messageResultOf: typeof resultLineOf = (job, line) => {
  const named = `{"custom_id":${JSON.stringify(line.custom_id)},"result":`;
  const error = errorOfLine(job, line);
  if (error === null) return `${named}{"type":"succeeded","message":${line.result}}}`;
  if (error.code === "batch_cancelled") return `${named}{"type":"canceled"}}`;
  if (error.code === "batch_expired") return `${named}{"type":"expired"}}`;
  // A refusal already has the form in which a direct caller would have received it.
  if (line.result?.startsWith('{"type":"error"')) return `${named}{"type":"errored","error":${line.result}}}`;
  const errorBody = { type: errorTypeOf(line.status_code ?? 500), message: error.message ?? "", code: error.code };
  return `${named}{"type":"errored","error":${JSON.stringify({ type: "error", error: errorBody, request_id: line.request_id })}}}`;
};
