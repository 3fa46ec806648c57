import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { resultsWithExactCalls } from "../../../wire/json/exact-tools.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { ProviderTarget } from "../provider.ts";
import {
  askForBatches,
  drained,
  askForBatchJson,
  type BatchedLine,
  type ProviderBatchStatus,
  type Found,
  submissionOutcome,
  type LineOutcomeOfVendor,
  type ProviderBatches,
  wordIn,
} from "../provider-batches.ts";

import { geminiBase, geminiModelAddress } from "./gemini.ts";

const LISTED = 100;
const MAX_LISTS = 10;
/** HTTP statuses of Google's (gRPC) error codes. */
const STATUSES: Readonly<Record<number, number>> = { 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401 };
const NAME = /^batches\/[A-Za-z0-9._-]{1,200}$/;

/** Batches of Google's Gemini API, with inline requests. */
export function geminiBatches(outbound: Outbound): ProviderBatches {
  const own = ({ apiKey }: ProviderTarget): Record<string, string> => (apiKey === null ? {} : { "x-goog-api-key": apiKey });
  const get = (target: ProviderTarget, path: string, signal: AbortSignal, parse?: (json: string) => unknown) =>
    askForBatchJson(outbound, target, { method: "GET", url: `${geminiBase(target)}/${path}`, headers: own(target), signal }, parse);

  return {
    operations: new Set<ProviderOperation>(["gemini", "gemini_embed"]),
    mostLines: 1_000,
    // Inline requests may have less than 20 MB in total.
    mostBytes: 12 * 1024 * 1024,
    async send(target, { key, operation, lines }, signal) {
      const embeds = operation === "gemini_embed";
      const requests = lines.map(embeds ? embeddingsOf : ({ id, body }) => `{"request":${body},"metadata":{"key":"${id}"}}`).join(",");
      const body = `{"batch":{"displayName":"${key}","inputConfig":{"requests":{"requests":[${requests}]}}}}`;
      const request = {
        method: "POST",
        url: `${geminiModelAddress(target)}:${embeds ? "asyncBatchEmbedContent" : "batchGenerateContent"}`,
        headers: own(target),
        body,
        signal,
      } as const;
      try {
        return { kind: "taken", id: nameOf(await askForBatchJson(outbound, target, request)) };
      } catch (error) {
        return submissionOutcome(error);
      }
    },
    async find(target, { key }, signal): Promise<Found> {
      let from = "";
      for (let list = 0; list < MAX_LISTS; list++) {
        const page = await get(target, `batches?pageSize=${LISTED}${from}`, signal);
        const all = Array.isArray(page.operations) ? page.operations.filter(isObject) : [];
        const found = all.find(({ metadata }) => isObject(metadata) && metadata.displayName === key);
        if (found !== undefined) return { kind: "found", id: nameOf(found) };
        const next = wordIn(page.nextPageToken);
        if (next === null) break;
        from = `&pageToken=${encodeURIComponent(next)}`;
      }
      return { kind: "none" };
    },
    async readStatus(target, id, signal) {
      return statusOf(await get(target, checked(id), signal));
    },
    async cancel(target, id, signal) {
      const url = `${geminiBase(target)}/${checked(id)}:cancel`;
      await drained(await askForBatches(outbound, target, { method: "POST", url, headers: own(target), body: "{}", signal }));
    },
    async *results(target, id, signal) {
      const batch = await get(target, checked(id), signal, resultsWithExactCalls);
      const output = outputOf(batch);
      for (const one of inlinedIn(output?.inlinedResponses)) {
        const outcome = outcomeOf(one);
        if (outcome !== null) yield outcome;
      }
      yield* embedded(inlinedIn(output?.inlinedEmbedContentResponses));
    },
  };
}

/** The list is nested in an object of the same name. */
function inlinedIn(output: unknown): readonly JsonObject[] {
  const inlined = isObject(output) ? output.inlinedResponses : output;
  return Array.isArray(inlined) ? inlined.filter(isObject) : [];
}

/** A line may have several embeddings, but the vendor takes one per request: each key contains the line's ID, the index and the count. */
function embeddingsOf({ id, body }: BatchedLine): string {
  const { requests } = JSON.parse(body) as { requests: unknown[] };
  return requests
    .map((request, at) => `{"request":${JSON.stringify(request)},"metadata":{"key":"${id}/${at}/${requests.length}"}}`)
    .join(",");
}

function* embedded(all: readonly JsonObject[]): Generator<LineOutcomeOfVendor> {
  const lines = new Map<string, { readonly embeddings: unknown[]; count: number; failed: LineOutcomeOfVendor | null }>();
  for (const one of all) {
    const [id = "", at, count] = (isObject(one.metadata) ? (wordIn(one.metadata.key) ?? "") : "").split("/");
    const line = lines.get(id) ?? { embeddings: [], count: Number(count), failed: null };
    lines.set(id, line);
    const { embedding } = isObject(one.response) ? one.response : {};
    if (isObject(embedding)) line.embeddings[Number(at)] = embedding;
    else line.failed ??= outcomeOf({ ...(one.error !== undefined && { error: one.error }), metadata: { key: id } });
  }
  for (const [id, { embeddings, count, failed }] of lines) {
    const isWhole = embeddings.length === count && !embeddings.includes(undefined);
    yield isWhole ? { id, status: 200, body: JSON.stringify({ embeddings }) } : (failed ?? { id, unanswered: "failed", message: null });
  }
}

function nameOf(batch: JsonObject): string {
  return wordIn(batch.name) ?? "";
}

/** Validates the vendor's batch name, which becomes part of a URL. */
function checked(name: string): string {
  if (!NAME.test(name)) throw new Error("the provider named its batch in a way that no address can have");
  return name;
}

function outputOf({ metadata, response }: JsonObject): JsonObject | undefined {
  const output = isObject(metadata) ? metadata.output : undefined;
  return isObject(output) ? output : isObject(response) ? response : undefined;
}

function statusOf({ metadata, error }: JsonObject): ProviderBatchStatus {
  switch (isObject(metadata) ? metadata.state : undefined) {
    case "BATCH_STATE_SUCCEEDED":
      return { kind: "ended", why: null, message: null };
    case "BATCH_STATE_FAILED":
      return { kind: "ended", why: "failed", message: isObject(error) ? wordIn(error.message) : null };
    case "BATCH_STATE_CANCELLED":
      return { kind: "ended", why: "cancelled", message: null };
    case "BATCH_STATE_EXPIRED":
      return { kind: "ended", why: "expired", message: null };
    default:
      return { kind: "running" };
  }
}

function outcomeOf({ metadata, response, error }: JsonObject): LineOutcomeOfVendor | null {
  const id = isObject(metadata) ? wordIn(metadata.key) : null;
  if (id === null) return null;
  if (response !== undefined) return { id, status: 200, body: JSON.stringify(response) };
  if (!isObject(error)) return { id, unanswered: "failed", message: null };
  const status = statusOfGoogleCode(error.code);
  return { id, status, body: JSON.stringify({ error: { ...error, code: status } }) };
}

/** The HTTP status of a Google error code, which may already be one. */
export function statusOfGoogleCode(code: unknown): number {
  return typeof code !== "number" ? 500 : code >= 400 && code < 600 ? code : (STATUSES[code] ?? 500);
}
