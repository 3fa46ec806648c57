import { repeatedHeaders } from "../../road/own-calls/repeated-headers.ts";
import type { BatchJob, BatchJobError, BatchStore, LineToGive, LineToRun } from "../../directory/batch/batch-store.ts";
import type { Holder } from "../../road/admission/gateway-tokens.ts";
import type {
  BackgroundAnswer,
  BackgroundCalls,
  BackgroundRequest,
  ProviderResult,
  SuspendedLine,
} from "../../road/own-calls/background-calls.ts";
import type { Surface } from "../../road/surface.ts";
import { isErrorCode, refuse } from "../../kernel/errors.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { BATCH_ENDPOINTS, type BatchEndpoint, headersOfLines } from "./endpoints.ts";
import { withModel } from "./intake.ts";
import type { KnownModels } from "../../directory/models/known-models.ts";
import { endsJob, isOfOneModel } from "./line-verdict.ts";

const encoder = new TextEncoder();
/** How long the hash of a key's current value is cached. */
const CACHE_MS = 1_000;
const NO_KEY = "0".repeat(64);

export interface LineCalls {
  /** Makes the call of a line; null if it could not be recorded. For a provider-run job: what `finish` needs, unless answered at once. */
  run(job: BatchJob, line: LineToRun): Promise<BackgroundAnswer | SuspendedLine | null>;
  /** Finishes the call of a line with its result from the provider's batch. `recorded`: its row is sealed already. */
  finish(job: BatchJob, line: LineToGive, recorded: boolean): Promise<BackgroundAnswer | null>;
  /** Why nothing more of the job may ever be done with the model; null if it may. */
  jobFailure(job: BatchJob, modelId: string): Promise<BatchJobError | null>;
}

interface LineCallsParts {
  readonly calls: Pick<BackgroundCalls, "run" | "finish" | "accessRefusal">;
  readonly store: Pick<BatchStore, "keyHash">;
  readonly models: Pick<KnownModels, "find">;
  readonly surfaces: Readonly<Record<BatchEndpoint, Surface>>;
}

/** Makes the calls of jobs' lines, on behalf of whoever submitted the jobs. */
export function lineCalls({ calls, store, models, surfaces }: LineCallsParts): LineCalls {
  const hashes = new Map<string, { readonly hash: Promise<string | null>; readonly at: number }>();
  const hashOf = (tenantId: string, keyId: string): Promise<string | null> => {
    const known = hashes.get(keyId);
    if (known !== undefined && performance.now() - known.at < CACHE_MS) return known.hash;
    if (hashes.size > 1_000) hashes.clear();
    const hash = store.keyHash(tenantId, keyId);
    hash.catch(() => hashes.delete(keyId));
    hashes.set(keyId, { hash, at: performance.now() });
    return hash;
  };
  const holderOf = async (job: BatchJob): Promise<Holder> => {
    const { api_key_id: keyId, end_user_id: userId, tenant_id: tenantId, signed_on: signedOn } = job;
    if (keyId !== null || userId === null) return { kind: "key", hash: (keyId === null ? null : await hashOf(tenantId, keyId)) ?? NO_KEY };
    return { kind: "user", tenantId, userId, since: job.created_at.getTime(), signedOn };
  };
  const requestOf = async (
    job: BatchJob,
    { line, custom_id, attempt }: Pick<LineToRun, "line" | "custom_id" | "attempt">,
    body: Uint8Array,
  ): Promise<BackgroundRequest | null> => {
    // The directory is unavailable, which is not the caller's fault and must not end the job.
    const holder = await holderOf(job).catch(() => null);
    if (holder === null) return null;
    const endpoint = job.endpoint as BatchEndpoint;
    const headers = repeatedHeaders(job);
    const own = {
      "content-type": "application/json",
      "x-resource-group": job.resource_group_id,
      "idempotency-key": `${job.id}:${line}`,
      ...headersOfLines(endpoint),
      ...job.vendor_headers,
    };
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return {
      ...{ surface: surfaces[endpoint], audit: { proxyType: "batch", proxySubtype: BATCH_ENDPOINTS[endpoint].subtype } },
      ...{ path: `/v1/proxy/batch/jobs/${job.id}/lines/${line}`, headers, body, ip: job.client_ip, holder, groupId: job.resource_group_id },
      ...{ parentId: job.id, rootTaskId: job.root_task_id },
      noted: { batch: { job_id: job.id, line, custom_id, attempt } },
    };
  };
  return {
    async run(job, line) {
      const document = JsonDocument.read(encoder.encode(line.body));
      const body = document instanceof JsonDocument ? withModel(document, { model: job.model, modelId: job.model_id }) : line.body;
      const request = await requestOf(job, line, encoder.encode(body));
      if (request === null) return null;
      const answer = await calls.run(request, job.mode === "provider");
      // Makes this process remember the model: it may be deleted before the answer is delivered from here.
      if (answer !== null && "departure" in answer) await models.find(job.tenant_id, answer.departure.modelId);
      return answer;
    },
    async finish(job, line, recorded) {
      const request = await requestOf(job, line, NOTHING);
      if (request === null) return null;
      const model = await models.find(job.tenant_id, line.model_id);
      return calls.finish(request, { ...suspendedLineOf(line), model }, providerResultOf(line), recorded);
    },
    async jobFailure(job, modelId) {
      const request = await requestOf(job, { line: 0, custom_id: "", attempt: 0 }, NOTHING);
      const refused = request === null ? null : await calls.accessRefusal(request, modelId);
      if (refused === null || !endsJob(refused.code, refused.admitted, isOfOneModel(job))) return null;
      const model = await models.find(job.tenant_id, modelId);
      const isGone = refused.code === "model_not_found";
      return { code: refused.code, message: isGone ? `The model ${JSON.stringify(model?.name ?? modelId)} was deleted.` : refused.message };
    },
  };
}

const NOTHING = new Uint8Array(0);

/** The suspended line, from what was stored when it was handed over. */
function suspendedLineOf({ audit_row, call_id: id, model_id: modelId, operation, asked, provider_batch }: LineToGive): SuspendedLine {
  const row = JSON.parse(audit_row) as SuspendedLine["row"];
  const metadata = row.custom_metadata as { batch?: object } | null | undefined;
  const custom_metadata = { ...metadata, batch: { ...metadata?.batch, provider_batch } };
  return {
    departure: { modelId, operation: operation as SuspendedLine["departure"]["operation"], body: "" },
    ...{ id, timestamp: row.timestamp as string, row: { ...row, custom_metadata }, asked },
  };
}

/** `unanswered` holds an error code, followed by a colon and a reason if there is one. */
function providerResultOf({ status, answer, unanswered }: LineToGive): ProviderResult {
  if (status !== null && answer !== null) return { status, body: answer };
  const [code = "", ...messageParts] = (unanswered ?? "upstream_error").split(": ");
  const reason = messageParts.join(": ");
  return refuse(isErrorCode(code) ? code : "upstream_error", undefined, reason === "" ? {} : { reason });
}
