import type { JsonObject } from "../../kernel/json-value.ts";
import { objectOf, objectsOf } from "../openai/loose-fields.ts";
import { servedByOpenAi } from "../serving.ts";
import { ResponseToolUses, type VendorFees } from "../vendor-tools.ts";
import { plausibleUsage, cacheWriteTokens, count, inputTokens, type Usage } from "../usage.ts";

/** The usage of a complete response, with the vendor tools used in its output; null if not reported. */
export function usageOfResponse(response: JsonObject): Usage | null {
  const usage = servedByOpenAi(readResponsesUsage(response.usage), response.service_tier);
  return usage === null ? null : { ...usage, ...feesOfResponse(response) };
}

/** The fees of vendor tools that a complete response used. */
export function feesOfResponse(response: JsonObject): VendorFees {
  const uses = new ResponseToolUses();
  uses.readSettings(response);
  let webSearches = 0;
  for (const [item] of objectsOf(response.output)) {
    uses.item(item);
    if (isWebSearch(item)) webSearches++;
  }
  return { ...(webSearches > 0 && { webSearches }), ...uses.fees };
}

/** Whether an output item is a search with the vendor's web search, rather than opening one of its results. */
export function isWebSearch(item: JsonObject): boolean {
  return item.type === "web_search_call" && (objectOf(item.action)?.type ?? "search") === "search";
}

/** Reads the `usage` of a response; null if it is not one. The input includes cached tokens. */
export function readResponsesUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  if (usage === null || typeof usage.input_tokens !== "number") return null;
  const input = count(usage.input_tokens);
  const details = objectOf(usage.input_tokens_details);
  const cacheRead = Math.min(count(details?.cached_tokens), input);
  const cacheWrite = Math.min(count(details?.cache_write_tokens), input - cacheRead);
  const output = count(usage.output_tokens);
  const reasoning = Math.min(count(objectOf(usage.output_tokens_details)?.reasoning_tokens), output);
  return plausibleUsage({
    inputUncached: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWriteHour: 0,
    output,
    reasoning,
    estimated: false,
  });
}

export function responsesUsageMember(usage: Usage): JsonObject {
  const input = inputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWriteTokens(usage) },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
