import { nanoOf } from "../../kernel/nano-money.ts";
import { storableText } from "../../kernel/text/storable.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { askVendor, countOr, nextPlace, objectList, sumOf, textOr } from "./ask-vendor.ts";
import {
  DAY_SECONDS,
  daysBefore,
  type UsageAccess,
  type UsageItem,
  UsageRefused,
  type UsageVendor,
  type VendorKey,
} from "./usage-vendor.ts";

/** The dimensions each source can be grouped by. */
const GROUPED: Readonly<Record<string, readonly string[]>> = {
  completions: ["project_id", "api_key_id", "model", "batch", "service_tier"],
  embeddings: ["project_id", "api_key_id", "model"],
  moderations: ["project_id", "api_key_id", "model"],
  images: ["project_id", "api_key_id", "model", "source", "size"],
  audio_speeches: ["project_id", "api_key_id", "model"],
  audio_transcriptions: ["project_id", "api_key_id", "model"],
  costs: ["project_id", "line_item", "api_key_id"],
};
const MAX_PAGES_OF_KEYS = 100;

/** A line item such as `gpt-5, input` begins with the model. */
const modelOfLine = (line: string | null) => line?.split(", ")[0] ?? null;

function dimensionsOf(source: string, result: JsonObject): Record<string, string | null> {
  return Object.fromEntries(
    (GROUPED[source] ?? []).map((name) => {
      const value = result[name];
      return [name, value === null || value === undefined ? null : storableText(String(value).slice(0, 500))];
    }),
  );
}

function itemOf(source: string, bucket: JsonObject, result: JsonObject): UsageItem {
  const dimensions = dimensionsOf(source, result);
  const start = new Date((countOr(bucket.start_time) ?? Number.NaN) * 1000);
  if (Number.isNaN(start.getTime())) throw new UsageRefused("The vendor's answer has a bucket without its start.", { passing: false });
  const amount = isObject(result.amount) ? result.amount : {};
  const cost = source === "costs" ? nanoOf(amount.value) : null;
  return {
    start,
    seconds: DAY_SECONDS,
    dimensions,
    model: source === "costs" ? modelOfLine(dimensions.line_item ?? null) : (dimensions.model ?? null),
    key: dimensions.api_key_id ?? null,
    project: dimensions.project_id ?? null,
    requests: countOr(result.num_model_requests),
    // Includes cached input.
    input:
      source === "completions" || source === "embeddings" || source === "moderations"
        ? sumOf(result.input_tokens, result.input_audio_tokens)
        : null,
    cached: countOr(result.input_cached_tokens),
    output: sumOf(result.output_tokens, result.output_audio_tokens),
    costNano: cost,
    currency: cost === null ? null : (textOr(amount.currency)?.toLowerCase() ?? null),
    estimated: false,
  };
}

/** OpenAI's usage and costs of an organization, with an admin key. */
export function openaiUsage(outbound: Outbound): UsageVendor {
  const ask = ({ endpoint, apiKey }: UsageAccess, path: string, query: URLSearchParams) =>
    askVendor(outbound, `${endpoint}/v1/organization/${path}?${query.toString()}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      secret: apiKey,
    });

  async function* all(access: UsageAccess, path: string, onProgress: () => Promise<void>): AsyncGenerator<JsonObject> {
    let after: string | null = null;
    for (let page = 0; page < MAX_PAGES_OF_KEYS; page++) {
      await onProgress();
      const body: JsonObject = await ask(access, path, new URLSearchParams({ limit: "100", ...(after === null ? {} : { after }) }));
      yield* objectList(body.data);
      after = textOr(body.last_id);
      if (body.has_more !== true || after === null) return;
    }
  }

  return {
    endpoint: "https://api.openai.com",
    split: "key",
    sources: Object.keys(GROUPED),
    windowDays: 31,
    rereadFrom: daysBefore(3),
    async page(access, source, { from, to }, cursor) {
      const query = new URLSearchParams({
        start_time: String(from.getTime() / 1000),
        end_time: String(to.getTime() / 1000),
        bucket_width: "1d",
        limit: "31",
      });
      for (const name of GROUPED[source] ?? []) query.append("group_by", name);
      if (cursor !== null) query.set("page", cursor);
      const body = await ask(access, source === "costs" ? "costs" : `usage/${source}`, query);
      const items = objectList(body.data).flatMap((bucket) => objectList(bucket.results).map((result) => itemOf(source, bucket, result)));
      return { items, next: body.has_more === true ? nextPlace(body.next_page, cursor) : null };
    },
    async keys(access, goesOn) {
      const keys: VendorKey[] = [];
      const next = () => goesOn(keys.length);
      for await (const project of all(access, "projects", next)) {
        const id = textOr(project.id);
        if (id === null) continue;
        for await (const key of all(access, `projects/${encodeURIComponent(id)}/api_keys`, next)) {
          const [keyId, shown] = [textOr(key.id), textOr(key.redacted_value)];
          if (keyId !== null && shown !== null) keys.push({ id: keyId, name: textOr(key.name), project: id, hint: shown.slice(-4) });
        }
      }
      return keys;
    },
  };
}
