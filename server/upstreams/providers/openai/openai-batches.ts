import type { Outbound } from "../../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { ProviderTarget } from "../provider.ts";
import {
  askForBatches,
  drained,
  askForBatchJson,
  type BatchToSend,
  type Found,
  submissionOutcome,
  type LineOutcomeOfVendor,
  notBegun,
  type ProviderBatches,
  wordIn,
} from "../provider-batches.ts";
import { resultObjects } from "../result-lines.ts";
import { withoutSlash } from "../send.ts";

const OPERATIONS = ["chat", "responses", "completions", "embeddings", "moderations"] as const;
/** The endpoint of a batch is OpenAI's path, whatever the server's base path. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  completions: "/v1/completions",
  embeddings: "/v1/embeddings",
  moderations: "/v1/moderations",
};
const LISTED = 100;
const MAX_LISTS = 20;
const KEY = "gatehouse_batch";
/** The error of a batch whose tokens exceed the limit for queued batches. */
const QUEUE_FULL = "token_limit_exceeded";

/** Batches of OpenAI's API: input in a file, results in two. */
export function openaiBatches(outbound: Outbound): ProviderBatches {
  const at = (target: ProviderTarget, path: string) => `${withoutSlash(target.baseUrl)}${path}`;
  const own = ({ apiKey }: ProviderTarget): Record<string, string> => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` });
  const get = (target: ProviderTarget, path: string, signal: AbortSignal) =>
    askForBatchJson(outbound, target, { method: "GET", url: at(target, path), headers: own(target), signal });
  const batchOf = (target: ProviderTarget, id: string, signal: AbortSignal) => get(target, `/batches/${encodeURIComponent(id)}`, signal);

  async function upload(target: ProviderTarget, { key, operation, lines }: BatchToSend, signal: AbortSignal): Promise<string> {
    const url = ENDPOINTS[operation] as string;
    const boundary = `gatehouse-${key}`;
    const part = (name: string, more: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const file = lines.map(({ id, body }) => `{"custom_id":"${id}","method":"POST","url":"${url}","body":${body}}\n`).join("");
    const head = `${part("purpose", "")}batch\r\n${part("file", `; filename="${key}.jsonl"\r\ncontent-type: application/jsonl`)}`;
    const headers = { ...own(target), "content-type": `multipart/form-data; boundary=${boundary}` };
    const body = `${head}${file}\r\n--${boundary}--\r\n`;
    const made = await askForBatchJson(outbound, target, { method: "POST", url: at(target, "/files"), headers, body, signal });
    return wordIn(made.id) ?? "";
  }

  async function remove(target: ProviderTarget, fileId: string, signal: AbortSignal): Promise<void> {
    const url = at(target, `/files/${encodeURIComponent(fileId)}`);
    await drained(await askForBatches(outbound, target, { method: "DELETE", url, headers: own(target), signal }));
  }

  async function* linesOf(target: ProviderTarget, fileId: string, signal: AbortSignal): AsyncGenerator<JsonObject> {
    const url = at(target, `/files/${encodeURIComponent(fileId)}/content`);
    yield* resultObjects(await askForBatches(outbound, target, { method: "GET", url, headers: own(target), signal }));
  }

  return {
    operations: new Set<ProviderOperation>(OPERATIONS),
    mostLines: 5_000,
    mostBytes: 16 * 1024 * 1024,
    async send(target, batch, signal) {
      const fileId = await upload(target, batch, signal).catch(notBegun);
      if (typeof fileId !== "string") return fileId;
      try {
        const body = JSON.stringify({
          ...{ input_file_id: fileId, endpoint: ENDPOINTS[batch.operation], completion_window: "24h" },
          metadata: { [KEY]: batch.key },
        });
        const request = { method: "POST", url: at(target, "/batches"), headers: own(target), body, signal } as const;
        return { kind: "taken", id: wordIn((await askForBatchJson(outbound, target, request)).id) ?? "" };
      } catch (error) {
        const over = submissionOutcome(error);
        if (over.kind !== "unknown") await remove(target, fileId, signal).catch(() => undefined);
        return over;
      }
    },
    async find(target, { key }, signal): Promise<Found> {
      let after = "";
      for (let list = 0; list < MAX_LISTS; list++) {
        const page = await get(target, `/batches?limit=${LISTED}${after}`, signal);
        const data = Array.isArray(page.data) ? page.data.filter(isObject) : [];
        const found = data.find(({ metadata }) => isObject(metadata) && metadata[KEY] === key);
        const id = wordIn(found?.id);
        if (id !== null) return { kind: "found", id };
        const last = wordIn(data.at(-1)?.id);
        if (page.has_more !== true || last === null) return { kind: "none" };
        after = `&after=${encodeURIComponent(last)}`;
      }
      return { kind: "none" };
    },
    async readStatus(target, id, signal) {
      const batch = await batchOf(target, id, signal);
      switch (batch.status) {
        case "completed":
          return { kind: "ended", why: null, message: null };
        case "expired":
        case "cancelled":
          return { kind: "ended", why: batch.status, message: null };
        case "validating":
          return { kind: "running", unchecked: true };
        case "failed":
          return faultsOf(batch).some(({ code }) => code === QUEUE_FULL)
            ? { kind: "full" }
            : { kind: "ended", why: "failed", message: wordIn(faultsOf(batch)[0]?.message) };
        default:
          return { kind: "running" };
      }
    },
    async cancel(target, id, signal) {
      const url = at(target, `/batches/${encodeURIComponent(id)}/cancel`);
      await drained(await askForBatches(outbound, target, { method: "POST", url, headers: own(target), body: "", signal }));
    },
    async *results(target, id, signal) {
      const batch = await batchOf(target, id, signal);
      for (const name of ["output_file_id", "error_file_id"] as const) {
        const fileId = wordIn(batch[name]);
        if (fileId !== null) for await (const line of linesOf(target, fileId, signal)) yield outcomeOf(line);
      }
    },
    async tidy(target, id, signal) {
      const batch = await batchOf(target, id, signal);
      for (const name of ["input_file_id", "output_file_id", "error_file_id"] as const) {
        const fileId = wordIn(batch[name]);
        if (fileId !== null) await remove(target, fileId, signal);
      }
    },
  };
}

function outcomeOf({ custom_id, response, error }: JsonObject): LineOutcomeOfVendor {
  const id = String(custom_id);
  if (isObject(response) && typeof response.status_code === "number")
    return { id, status: response.status_code, body: JSON.stringify(response.body ?? null) };
  const code = isObject(error) ? error.code : null;
  const message = isObject(error) ? wordIn(error.message) : null;
  return { id, unanswered: code === "batch_expired" ? "expired" : code === "batch_cancelled" ? "cancelled" : "failed", message };
}

function faultsOf({ errors }: JsonObject): readonly JsonObject[] {
  return isObject(errors) && Array.isArray(errors.data) ? errors.data.filter(isObject) : [];
}
