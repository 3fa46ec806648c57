import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { ProviderTarget } from "../provider.ts";
import {
  askForBatches,
  drained,
  askForBatchJson,
  type Found,
  submissionOutcome,
  type LineOutcomeOfVendor,
  type ProviderBatches,
  wordIn,
} from "../provider-batches.ts";

import { MESSAGES_VERSION } from "../../../wire/messages/messages-version.ts";
import { resultObjects } from "../result-lines.ts";
import { anthropicAddress } from "./anthropic.ts";

const LISTED = 100;
const MAX_LISTS = 10;
/** Allowance for clock differences, milliseconds. */
const BEFORE_MS = 120_000;
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Anthropic's message batches. */
export function anthropicBatches(outbound: Outbound): ProviderBatches {
  const own = ({ apiKey, headers }: ProviderTarget): Record<string, string> => ({
    ...(apiKey === null ? {} : { "x-api-key": apiKey }),
    ...(Object.keys(headers).some((name) => name.toLowerCase() === "anthropic-version") ? {} : { "anthropic-version": MESSAGES_VERSION }),
  });
  const path = (id: string, more = "") => `/messages/batches/${encodeURIComponent(id)}${more}`;
  const get = (target: ProviderTarget, at: string, signal: AbortSignal) =>
    askForBatchJson(outbound, target, { method: "GET", url: anthropicAddress(target, at), headers: own(target), signal });

  async function* results(target: ProviderTarget, id: string, signal: AbortSignal): AsyncGenerator<LineOutcomeOfVendor> {
    const url = anthropicAddress(target, path(id, "/results"));
    const response = await askForBatches(outbound, target, { method: "GET", url, headers: own(target), signal });
    for await (const line of resultObjects(response)) yield outcomeOf(line);
  }

  /** Whether a batch is ours, which only the IDs of its lines tell; null while it has not ended, because they are unknown until then. */
  async function isOurs(target: ProviderTarget, batch: JsonObject, key: string, signal: AbortSignal): Promise<boolean | null> {
    if (batch.processing_status !== "ended") return null;
    for await (const { id } of results(target, String(batch.id), signal)) return id.startsWith(key);
    return false;
  }

  return {
    operations: new Set<ProviderOperation>(["messages"]),
    takesHeaders: true,
    mostLines: 5_000,
    mostBytes: 16 * 1024 * 1024,
    async send(target, { lines, headers }, signal) {
      const body = `{"requests":[${lines.map((line) => `{"custom_id":"${line.id}","params":${line.body}}`).join(",")}]}`;
      const request = {
        method: "POST",
        url: anthropicAddress(target, "/messages/batches"),
        headers: { ...own(target), ...headers },
        body,
        signal,
      } as const;
      try {
        return { kind: "taken", id: wordIn((await askForBatchJson(outbound, target, request)).id) ?? "" };
      } catch (error) {
        return submissionOutcome(error);
      }
    },
    async find(target, { key, lines, since, known }, signal): Promise<Found> {
      let after = "";
      let unsure = false;
      for (let list = 0; list < MAX_LISTS; list++) {
        const page = await get(target, `/messages/batches?limit=${LISTED}${after}`, signal);
        const data = Array.isArray(page.data) ? page.data.filter(isObject) : [];
        for (const batch of data) {
          const made = Date.parse(String(batch.created_at));
          if (made < since - BEFORE_MS) return { kind: unsure ? "unsure" : "none" };
          if (known.has(String(batch.id)) || totalOf(batch) !== lines) continue;
          const ours = await isOurs(target, batch, key, signal);
          if (ours === true) return { kind: "found", id: String(batch.id) };
          if (ours === null) unsure = true;
        }
        const last = wordIn(data.at(-1)?.id);
        if (page.has_more !== true || last === null) break;
        after = `&after_id=${encodeURIComponent(last)}`;
      }
      return { kind: unsure ? "unsure" : "none" };
    },
    async readStatus(target, id, signal) {
      const batch = await get(target, path(id), signal);
      if (batch.processing_status !== "ended") return { kind: "running" };
      const counts = isObject(batch.request_counts) ? batch.request_counts : {};
      const why = Number(counts.expired) > 0 ? "expired" : Number(counts.canceled) > 0 ? "cancelled" : null;
      return { kind: "ended", why, message: null };
    },
    async cancel(target, id, signal) {
      const url = anthropicAddress(target, path(id, "/cancel"));
      await drained(await askForBatches(outbound, target, { method: "POST", url, headers: own(target), body: "", signal }));
    },
    results,
  };
}

function totalOf({ request_counts: counts }: JsonObject): number {
  return isObject(counts) ? Object.values(counts).reduce<number>((sum, count) => sum + (Number(count) || 0), 0) : -1;
}

function outcomeOf({ custom_id, result }: JsonObject): LineOutcomeOfVendor {
  const id = String(custom_id);
  const resultObject = isObject(result) ? result : {};
  if (resultObject.type === "succeeded") return { id, status: 200, body: JSON.stringify(resultObject.message ?? null) };
  if (resultObject.type === "errored") {
    const fault =
      isObject(resultObject.error) && isObject(resultObject.error.error)
        ? resultObject.error
        : { type: "error", error: resultObject.error };
    return { id, status: statusOfAnthropicFault(fault), body: JSON.stringify(fault) };
  }
  return {
    id,
    unanswered: resultObject.type === "expired" ? "expired" : resultObject.type === "canceled" ? "cancelled" : "failed",
    message: null,
  };
}

/** The HTTP status that this error normally comes with. */
export function statusOfAnthropicFault({ error }: JsonObject): number {
  return (isObject(error) ? ownEntry(STATUSES, String(error.type)) : undefined) ?? 500;
}
