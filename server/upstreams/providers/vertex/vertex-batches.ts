import { isRefusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { JsonDocument } from "../../../wire/json/document.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { statusOfAnthropicFault } from "../anthropic/anthropic-batches.ts";
import { statusOfGoogleCode } from "../gemini/gemini-batches.ts";
import {
  askForBatchJson,
  type BatchedLine,
  type ProviderBatchStatus,
  submissionOutcome,
  type LineOutcomeOfVendor,
  noStorage,
  notBegun,
  type ProviderBatches,
  VendorFault,
  wordIn,
} from "../provider-batches.ts";
import { resultObjects } from "../result-lines.ts";
import type { ProviderTarget } from "../provider.ts";
import { pathSegment } from "../send.ts";
import { below, folderOfInput, removed, removeFolder } from "../vendor-bucket.ts";
import { gcsBucket } from "./gcs-bucket.ts";
import { GoogleBearers } from "./google-bearers.ts";
import { noProject, vertexPlaceOf } from "./place.ts";
import { claudeBody } from "./vertex.ts";

const LISTED = 100;
const MAX_LISTS = 10;
const NAME = /^projects\/[A-Za-z0-9:._-]{1,100}\/locations\/[a-z0-9-]{1,50}\/batchPredictionJobs\/[A-Za-z0-9._-]{1,200}$/;
/** The label that identifies a Gemini line in the results, which repeat the request. */
const LABEL = "gatehouse_line";

/** Vertex batch prediction, with input and output in the tenant's bucket. */
export function vertexBatches(outbound: Outbound, clock: { now(): number }): ProviderBatches {
  const bearers = new GoogleBearers(outbound, clock);
  const bucketOf = (target: ProviderTarget) => gcsBucket(outbound, bearers, target);

  async function ask(
    target: ProviderTarget,
    method: "GET" | "POST",
    path: string,
    signal: AbortSignal,
    body?: string,
  ): Promise<JsonObject> {
    const headers = await bearers.of(target);
    if (isRefusal(headers)) throw new VendorFault(null, headers);
    const url = `${vertexPlaceOf(target).origin}/v1/${path}`;
    return askForBatchJson(outbound, target, { method, url, headers, signal, ...(body !== undefined && { body }) }).catch(
      (error: unknown) => {
        if (error instanceof VendorFault && error.status === 401) bearers.forget(target);
        throw error;
      },
    );
  }

  return {
    operations: new Set<ProviderOperation>(["gemini", "messages"]),
    mostLines: 5_000,
    mostBytes: 16 * 1024 * 1024,
    async send(target, { key, operation, lines }, signal) {
      const jobs = jobsOf(target);
      if (jobs === null) return { kind: "refused", refusal: noProject() };
      if (target.storage === undefined) return { kind: "refused", refusal: noStorage() };
      const bucket = bucketOf(target);
      const folder = below(target.storage.uri, key);
      const input = `${folder}/input.jsonl`;
      const text = lines.map((line) => `${operation === "messages" ? claudeLine(line) : geminiLine(line)}\n`).join("");
      const unready = await bucket.put(input, text, signal).then(() => null, notBegun);
      if (unready !== null) return unready;
      const job = JSON.stringify({
        displayName: key,
        model: `publishers/${operation === "messages" ? "anthropic" : "google"}/models/${target.modelName.split("/").at(-1)}`,
        inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: [input] } },
        outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: `${folder}/output` } },
      });
      try {
        return { kind: "taken", id: wordIn((await ask(target, "POST", jobs, signal, job)).name) ?? "" };
      } catch (error) {
        const over = submissionOutcome(error);
        // Nobody reads the input then, and it contains callers' prompts.
        if (over.kind !== "unknown") await removed(bucket, input, signal);
        return over;
      }
    },
    async find(target, { key }, signal) {
      const jobs = jobsOf(target);
      if (jobs === null) return { kind: "none" };
      const filter = `filter=${encodeURIComponent(`display_name="${key}"`)}&pageSize=${LISTED}`;
      let from = "";
      for (let list = 0; list < MAX_LISTS; list++) {
        const page = await ask(target, "GET", `${jobs}?${filter}${from}`, signal);
        const all = Array.isArray(page.batchPredictionJobs) ? page.batchPredictionJobs.filter(isObject) : [];
        const id = wordIn(all.find(({ displayName }) => displayName === key)?.name);
        if (id !== null) return { kind: "found", id };
        const next = wordIn(page.nextPageToken);
        if (next === null) break;
        from = `&pageToken=${encodeURIComponent(next)}`;
      }
      return { kind: "none" };
    },
    async readStatus(target, id, signal) {
      return statusOf(await ask(target, "GET", checked(id), signal));
    },
    async cancel(target, id, signal) {
      await ask(target, "POST", `${checked(id)}:cancel`, signal, "{}");
    },
    async *results(target, id, signal) {
      const bucket = bucketOf(target);
      const folder = outputOf(await ask(target, "GET", checked(id), signal));
      if (folder === null) return;
      for await (const address of bucket.list(below(folder, ""), signal)) {
        if (!address.endsWith(".jsonl")) continue;
        for await (const line of resultObjects(await bucket.get(address, signal))) {
          const outcome = outcomeOf(line);
          if (outcome !== null) yield outcome;
        }
      }
    },
    async tidy(target, id, signal) {
      const { inputConfig } = await ask(target, "GET", checked(id), signal);
      const source = isObject(inputConfig) && isObject(inputConfig.gcsSource) ? inputConfig.gcsSource.uris : null;
      const folder = folderOfInput(Array.isArray(source) ? String(source[0]) : "", target.storage);
      if (folder !== null) await removeFolder(bucketOf(target), folder, signal);
    },
  };
}

function jobsOf(target: ProviderTarget): string | null {
  const { project, location } = vertexPlaceOf(target);
  return project === null ? null : `projects/${pathSegment(project)}/locations/${pathSegment(location)}/batchPredictionJobs`;
}

/** Validates the vendor's job name, which becomes part of a URL. */
function checked(name: string): string {
  if (!NAME.test(name)) throw new Error("the provider named its batch in a way that no address can have");
  return name;
}

function geminiLine({ id, body }: BatchedLine): string {
  const document = JsonDocument.read(new TextEncoder().encode(body), Number.POSITIVE_INFINITY);
  if (!(document instanceof JsonDocument)) return `{"request":${body}}`;
  const labels = isObject(document.value.labels) ? document.value.labels : {};
  return `{"request":${document.text(new Map([["labels", JSON.stringify({ ...labels, [LABEL]: id })]]))}}`;
}

function claudeLine({ id, body }: BatchedLine): string {
  return `{"custom_id":"${id}","request":${claudeBody({ body, operation: "messages" })}}`;
}

function outputOf({ outputInfo, outputConfig }: JsonObject): string | null {
  const outputFolder = isObject(outputInfo) ? wordIn(outputInfo.gcsOutputDirectory) : null;
  const requestedFolder =
    isObject(outputConfig) && isObject(outputConfig.gcsDestination) ? outputConfig.gcsDestination.outputUriPrefix : null;
  return outputFolder ?? wordIn(requestedFolder);
}

function statusOf({ state, error, partialFailures }: JsonObject): ProviderBatchStatus {
  const [first] = Array.isArray(partialFailures) ? partialFailures.filter(isObject) : [];
  const message = (isObject(error) ? wordIn(error.message) : null) ?? wordIn(first?.message);
  switch (state) {
    case "JOB_STATE_SUCCEEDED":
      return { kind: "ended", why: null, message: null };
    case "JOB_STATE_PARTIALLY_SUCCEEDED":
      return { kind: "ended", why: null, message };
    case "JOB_STATE_FAILED":
      return { kind: "ended", why: "failed", message };
    case "JOB_STATE_CANCELLED":
      return { kind: "ended", why: "cancelled", message: null };
    case "JOB_STATE_EXPIRED":
      return { kind: "ended", why: "expired", message: null };
    default:
      return { kind: "running" };
  }
}

function outcomeOf({ custom_id, request, response, status }: JsonObject): LineOutcomeOfVendor | null {
  const labels = isObject(request) && isObject(request.labels) ? request.labels : {};
  const id = wordIn(custom_id) ?? wordIn(labels[LABEL]);
  if (id === null) return null;
  const responseBody = isObject(response) && isObject(response.body) ? response.body : response;
  if (isObject(responseBody) && responseBody.type === "error")
    return { id, status: statusOfAnthropicFault(responseBody), body: JSON.stringify(responseBody) };
  if (isObject(responseBody) && Object.keys(responseBody).length > 0) return { id, status: 200, body: JSON.stringify(responseBody) };
  const fault = faultIn(status);
  if (fault === null) return { id, unanswered: "failed", message: wordIn(status) };
  const code = statusOfGoogleCode(fault.code);
  return { id, status: code, body: JSON.stringify({ error: { ...fault, code } }) };
}

/** The error of a failed line: an object, or a text that contains the vendor's JSON answer. Null if there is none. */
function faultIn(status: unknown): JsonObject | null {
  if (isObject(status)) return status;
  const text = typeof status === "string" ? /^[^{]*(\{.*\})/s.exec(status)?.[1] : undefined;
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isObject(value.error) ? value.error : null;
  } catch {
    return null;
  }
}
