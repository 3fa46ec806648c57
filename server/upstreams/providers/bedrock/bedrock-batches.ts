import { isRefusal } from "../../../kernel/errors.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import {
  askForBatches,
  drained,
  type ProviderBatchStatus,
  type SubmissionOutcome,
  submissionOutcome,
  type LineOutcomeOfVendor,
  noStorage,
  notBegun,
  type ProviderBatches,
  readJsonText,
  VendorFault,
  wordIn,
} from "../provider-batches.ts";
import { resultObjects } from "../result-lines.ts";
import type { ProviderTarget } from "../provider.ts";
import { pathSegment, withoutSlash } from "../send.ts";
import { below, folderOfInput, gotten, removed, removeFolder } from "../vendor-bucket.ts";
import { authorizeBedrock } from "./authorize.ts";
import { s3Bucket } from "./s3-bucket.ts";

/** The vendor's maximum. The job's own window, which may be shorter, cancels the batch. */
const HOURS = 168;
/** The account has reached its limit of concurrent jobs. */
const FULL = /^ServiceQuotaExceeded/;

/** Amazon Bedrock's batch inference in Converse format, with input and output in the tenant's bucket. */
export function bedrockBatches(outbound: Outbound, clock: { now(): number }): ProviderBatches {
  async function ask(target: ProviderTarget, method: "GET" | "POST", path: string, signal: AbortSignal, body = ""): Promise<Response> {
    const url = `${controlBase(target)}${path}`;
    const authorized = await authorizeBedrock(target, { method, url, body }, clock);
    if (isRefusal(authorized)) throw new VendorFault(null, authorized);
    return askForBatches(outbound, target, { method, url, headers: authorized.headers, signal, ...(method === "POST" && { body }) });
  }
  async function job(target: ProviderTarget, id: string, signal: AbortSignal): Promise<JsonObject> {
    const value: unknown = await readJsonText(await ask(target, "GET", `/model-invocation-job/${pathSegment(id)}`, signal));
    return isObject(value) ? value : {};
  }
  function bucketOf(target: ProviderTarget) {
    const bucket = s3Bucket(outbound, clock, target);
    if (isRefusal(bucket)) throw new VendorFault(null, bucket);
    return bucket;
  }

  return {
    operations: new Set<ProviderOperation>(["converse"]),
    // The vendor's minimum of lines per batch; `mostLines` is its maximum.
    leastLines: 100,
    withoutTools: true,
    mostLines: 50_000,
    mostBytes: 32 * 1024 * 1024,
    async send(target, { key, lines }, signal) {
      if (target.storage === undefined) return { kind: "refused", refusal: noStorage() };
      const { uri, roleArn } = target.storage;
      const bucket = s3Bucket(outbound, clock, target);
      if (isRefusal(bucket)) return { kind: "refused", refusal: bucket };
      const folder = below(uri, key);
      const input = `${folder}/input.jsonl`;
      const text = lines.map(({ id, body }) => `{"recordId":"${id}","modelInput":${body}}\n`).join("");
      const unready = await bucket.put(input, text, signal).then(() => null, notBegun);
      if (unready !== null) return unready;
      const body = JSON.stringify({
        jobName: `gatehouse-${key}`,
        clientRequestToken: key,
        modelId: target.modelName,
        roleArn,
        modelInvocationType: "Converse",
        inputDataConfig: { s3InputDataConfig: { s3Uri: input, s3InputFormat: "JSONL" } },
        outputDataConfig: { s3OutputDataConfig: { s3Uri: `${folder}/output/` } },
        timeoutDurationInHours: HOURS,
      });
      try {
        const made: unknown = await readJsonText(await ask(target, "POST", "/model-invocation-job", signal, body));
        return { kind: "taken", id: (isObject(made) ? wordIn(made.jobArn) : null) ?? "" };
      } catch (error) {
        const over = refusedOrFull(error);
        // Nobody reads the input then, and it contains callers' prompts.
        if (over.kind !== "unknown") await removed(bucket, input, signal);
        return over;
      }
    },
    async find(target, { key }, signal) {
      const response = await ask(target, "GET", `/model-invocation-jobs?nameContains=${key}`, signal);
      const page: unknown = await readJsonText(response);
      const all = isObject(page) && Array.isArray(page.invocationJobSummaries) ? page.invocationJobSummaries.filter(isObject) : [];
      const id = wordIn(all.find(({ jobName }) => jobName === `gatehouse-${key}`)?.jobArn);
      return id === null ? { kind: "none" } : { kind: "found", id };
    },
    async readStatus(target, id, signal) {
      return statusOf(await job(target, id, signal));
    },
    async cancel(target, id, signal) {
      await drained(await ask(target, "POST", `/model-invocation-job/${pathSegment(id)}/stop`, signal));
    },
    async *results(target, id, signal) {
      const { inputDataConfig, outputDataConfig } = await job(target, id, signal);
      const input = addressIn(inputDataConfig, "s3InputDataConfig");
      const output = addressIn(outputDataConfig, "s3OutputDataConfig");
      if (input === null || output === null) return;
      const address = below(output, `${id.split("/").at(-1)}/${input.split("/").at(-1)}.out`);
      const response = await gotten(bucketOf(target), address, signal);
      if (response !== null) for await (const line of resultObjects(response)) yield outcomeOf(line);
    },
    async tidy(target, id, signal) {
      const { inputDataConfig } = await job(target, id, signal);
      const folder = folderOfInput(addressIn(inputDataConfig, "s3InputDataConfig") ?? "", target.storage);
      if (folder !== null) await removeFolder(bucketOf(target), folder, signal);
    },
  };
}

const RUNTIME = /^bedrock-runtime(-fips)?(\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws))$/;

/** AWS serves jobs at another host than models; other servers are assumed to serve both at one. */
function controlBase({ baseUrl }: ProviderTarget): string {
  const url = new URL(baseUrl);
  const runtime = RUNTIME.exec(url.host);
  return runtime === null ? withoutSlash(baseUrl) : `${url.protocol}//bedrock${runtime[1] ?? ""}${runtime[2]}`;
}

function refusedOrFull(error: unknown): SubmissionOutcome {
  const over = submissionOutcome(error);
  return over.kind === "refused" && error instanceof VendorFault && FULL.test(error.kind ?? "") ? { ...over, kind: "busy" } : over;
}

function addressIn(config: unknown, name: string): string | null {
  const inner = isObject(config) ? config[name] : null;
  return isObject(inner) ? wordIn(inner.s3Uri) : null;
}

function statusOf({ status, message: statusMessage }: JsonObject): ProviderBatchStatus {
  const message = wordIn(statusMessage);
  switch (status) {
    case "Completed":
      return { kind: "ended", why: null, message: null };
    case "PartiallyCompleted":
    case "Expired":
      return { kind: "ended", why: "expired", message };
    case "Failed":
      return { kind: "ended", why: "failed", message };
    case "Stopped":
      return { kind: "ended", why: "cancelled", message: null };
    default:
      return { kind: "running" };
  }
}

function outcomeOf({ recordId, modelOutput, error }: JsonObject): LineOutcomeOfVendor {
  const id = String(recordId);
  if (isObject(modelOutput)) return { id, status: 200, body: JSON.stringify(modelOutput) };
  const code = isObject(error) ? Number(error.errorCode) : Number.NaN;
  const message = isObject(error) ? wordIn(error.errorMessage) : null;
  if (code >= 400 && code < 600) return { id, status: code, body: JSON.stringify({ message: message ?? "The record failed." }) };
  return { id, unanswered: "failed", message };
}
