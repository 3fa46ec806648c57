import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { CallerJob, InputProblem } from "../../services/batch/batch-service.ts";
import { openaiBatchRequest } from "@gatehouse/contracts/batch";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { type BatchService, windowMs } from "../../services/batch/batch-service.ts";
import { BATCH_ENDPOINTS, isBatchEndpoint } from "../../services/batch/endpoints.ts";
import { MAX_LINE_BYTES, type NumberedProblem } from "../../services/batch/intake.ts";
import { callerOf, type FileService } from "../../services/files/caller.ts";
import { textLines } from "../../wire/batch/text-lines.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { fileSurface, queryOf, wholeNumber } from "../files/files.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { batchIdIn } from "./jobs.ts";
import { jobBodyOf } from "./submit-requests.ts";
import { submitted } from "./submit.ts";

/** OpenAI's paths for batches, over the same jobs: input and results are files. */

const MAX_LISTED = 100;
const USUAL = 20;

const seconds = (time: Date | null): number | null => (time === null ? null : Math.floor(time.getTime() / 1000));

function problemObject({ code, message, line, field }: InputProblem): object {
  return { code, message, param: field, line };
}

/** A batch in OpenAI's form. */
function objectOf(job: CallerJob): object {
  const { id, status, endpoint, completion_window, model, metadata, ended_at: ended, ends_as: endsAs } = job;
  const { input_file_id, output_file_id, error_file_id, problems, error } = job;
  const reportedErrors = problems ?? (error === null ? [] : [{ ...error, line: null, field: null }]);
  const at = (state: CallerJob["status"]) => (status === state ? seconds(ended) : null);
  const unrun = ended === null ? 0 : job.total_requests - job.completed - job.failed;
  return {
    ...{
      id,
      object: "batch",
      endpoint,
      model,
      status,
      completion_window,
      input_file_id: input_file_id ?? "",
      output_file_id,
      error_file_id,
    },
    errors: reportedErrors.length === 0 ? null : { object: "list", data: reportedErrors.map(problemObject) },
    ...{ created_at: seconds(job.created_at), in_progress_at: seconds(job.in_progress_at), expires_at: seconds(job.expires_at) },
    ...{ finalizing_at: seconds(job.finalizing_at), completed_at: at("completed"), failed_at: at("failed"), expired_at: at("expired") },
    ...{ cancelling_at: seconds(job.cancelling_at), cancelled_at: at("cancelled") },
    request_counts: { total: job.total_requests, completed: job.completed, failed: job.failed + (endsAs === "failed" ? unrun : 0) },
    metadata,
  };
}

const invalid = (field: string, message: string): Refusal => invalidRequest([{ field, message }]);

/** A problem with a line of the input file, worded like the vendor's own errors. */
function problemOf({ number, field, message, ambiguous }: NumberedProblem): InputProblem {
  const where = { line: number, field: field === "" ? null : field };
  if (ambiguous === true) return { code: "ambiguous_name", message, ...where };
  const what = field === "" ? `The ${number === null ? "input" : "line"}` : `\`${field}\``;
  return { code: "invalid_request", message: `${what} ${message}.`, ...where };
}

/** POST /v1/proxy/llm/batches */
export const openaiBatchCreate = (batches: BatchService, files: FileService): Surface => ({
  ...llmRefusals,
  async read(call, body) {
    const document = JsonDocument.read(body ?? new Uint8Array(0));
    if (!(document instanceof JsonDocument)) return invalidRequest([document]);
    const read = jobBodyOf(document, openaiBatchRequest);
    if (isRefusal(read)) return read;
    const { said } = read;
    const { input_file_id: fileId, endpoint, completion_window: completionWindow, metadata = null } = said;
    const resultsExpireSeconds = said.output_expires_after?.seconds ?? null;
    if (!isBatchEndpoint(endpoint)) return invalid("endpoint", `must be one of ${Object.keys(BATCH_ENDPOINTS).join(", ")}`);
    if (windowMs(completionWindow, true) === null) return invalid("completion_window", "must be from 1h to 7d");
    const { owner } = callerOf(call);
    const file = await files.find(owner, fileId);
    if (isRefusal(file)) return { ...file, fields: [{ field: "input_file_id", message: "names no file of the caller's" }] };
    const bytes = await files.open(file, 0, file.size_bytes);
    if (isRefusal(bytes)) return bytes;
    const facts = () => ({
      ...{ endpoint, completionWindow, model: null, modelId: null, description: null, metadata },
      ...{ retryInterrupted: metadata?.retry_interrupted === "true", resultsExpireSeconds, vendorHeaders: null },
    });
    const pieces = textLines(bytes, MAX_LINE_BYTES);
    try {
      return await submitted(
        call,
        batches,
        { owner, pieces, lineEndpoint: endpoint, lineForm: "body", inputFileId: fileId, facts },
        (job) => jsonAnswer(objectOf(job)),
        ({ problems }) => problems.map(problemOf),
      );
    } finally {
      // If the submission was refused, the bytes were not read.
      await cancelQuietly(bytes);
    }
  },
});

/** GET /v1/proxy/llm/batches */
export const openaiBatchList = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["after", "limit"]);
    if (isRefusal(query)) return query;
    const limit = wholeNumber(query, "limit", USUAL, 1, MAX_LISTED);
    if (typeof limit !== "number") return limit;
    const page = { limit: limit + 1, offset: 0, after: query.get("after") };
    const { items } = await batches.store.list(callerOf(call).owner, undefined, page);
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
  fileSurface(async (call) => {
    const job = await batches.find(callerOf(call).owner, batchIdIn(call));
    return isRefusal(job) ? job : jsonAnswer(objectOf(job));
  });

/** POST /v1/proxy/llm/batches/{batch_id}/cancel */
export const openaiBatchCancel = (batches: BatchService): Surface =>
  fileSurface(async (call) => {
    const job = await batches.cancel(callerOf(call).owner, batchIdIn(call));
    return isRefusal(job) ? job : jsonAnswer(objectOf(job));
  });
