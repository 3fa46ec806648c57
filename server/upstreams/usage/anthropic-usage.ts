import { nanoOf } from "../../kernel/nano-money.ts";
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

const PATHS = { messages: "usage_report/messages", costs: "cost_report" } as const;
type Source = keyof typeof PATHS;
const GROUPED = {
  messages: ["api_key_id", "workspace_id", "model", "service_tier", "context_window"],
  costs: ["workspace_id", "description"],
} as const;
/** Further dimensions that grouping by description adds. */
const DESCRIBED = ["cost_type", "model", "service_tier", "token_type", "context_window", "inference_geo"];
const MAX_PAGES_OF_KEYS = 100;

function itemOf(source: Source, bucket: JsonObject, result: JsonObject): UsageItem {
  const start = new Date(textOr(bucket.starting_at) ?? "");
  if (Number.isNaN(start.getTime())) throw new UsageRefused("The vendor's answer has a bucket without its start.", { passing: false });
  const names: readonly string[] = source === "costs" ? [...GROUPED.costs, ...DESCRIBED] : GROUPED.messages;
  const dimensions = Object.fromEntries(names.map((name) => [name, textOr(result[name])]));
  const written = isObject(result.cache_creation) ? result.cache_creation : {};
  const cached = sumOf(result.cache_read_input_tokens, written.ephemeral_1h_input_tokens, written.ephemeral_5m_input_tokens);
  // Cents, as a decimal string.
  const cost = source === "costs" ? nanoOf(result.amount, -2) : null;
  return {
    start,
    seconds: DAY_SECONDS,
    dimensions,
    model: textOr(result.model),
    key: textOr(result.api_key_id),
    project: textOr(result.workspace_id),
    requests: null,
    // Cache reads and writes are not included in the uncached input.
    input: source === "messages" ? sumOf(result.uncached_input_tokens, cached) : null,
    cached: source === "messages" ? cached : null,
    output: countOr(result.output_tokens),
    costNano: cost,
    currency: cost === null ? null : (textOr(result.currency)?.toLowerCase() ?? null),
    estimated: false,
  };
}

/** Anthropic's usage and cost reports of an organization, with an admin key. */
export function anthropicUsage(outbound: Outbound): UsageVendor {
  const ask = ({ endpoint, apiKey }: UsageAccess, path: string, query: URLSearchParams) =>
    askVendor(outbound, `${endpoint}/v1/organizations/${path}?${query.toString()}`, {
      headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
      secret: apiKey,
    });
  return {
    endpoint: "https://api.anthropic.com",
    split: "key",
    sources: Object.keys(PATHS),
    windowDays: 31,
    rereadFrom: daysBefore(3),
    async page(access, named, { from, to }, cursor) {
      const source = named as Source;
      const query = new URLSearchParams({ starting_at: from.toISOString(), ending_at: to.toISOString(), bucket_width: "1d", limit: "31" });
      for (const name of GROUPED[source]) query.append("group_by[]", name);
      if (cursor !== null) query.set("page", cursor);
      const body = await ask(access, PATHS[source], query);
      const items = objectList(body.data).flatMap((bucket) => objectList(bucket.results).map((result) => itemOf(source, bucket, result)));
      return { items, next: body.has_more === true ? nextPlace(body.next_page, cursor) : null };
    },
    async keys(access, onProgress) {
      const keys: VendorKey[] = [];
      let after: string | null = null;
      for (let page = 0; page < MAX_PAGES_OF_KEYS; page++) {
        await onProgress(keys.length);
        const query = new URLSearchParams({ limit: "100", ...(after === null ? {} : { after_id: after }) });
        const body = await ask(access, "api_keys", query);
        for (const key of objectList(body.data)) {
          const [id, shown] = [textOr(key.id), textOr(key.partial_key_hint)];
          if (id !== null && shown !== null)
            keys.push({ id, name: textOr(key.name), project: textOr(key.workspace_id), hint: shown.slice(-4) });
        }
        after = textOr(body.last_id);
        if (body.has_more !== true || after === null) break;
      }
      return keys;
    },
  };
}
