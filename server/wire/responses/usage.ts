import type { JsonObject } from "../../kernel/json-value.ts";
import { objectOf, objectsOf } from "../openai/loose-fields.ts";
import { servedByOpenAi } from "../serving.ts";
import { ResponseToolUses } from "../vendor-tools.ts";
import { plausibleUsage, cacheWriteTokens, count, inputTokens, type Usage } from "../usage.ts";

/** Of a whole response: its `usage` member, and what of its vendor's tools its output used. Null when it tells none. */
export function usageOfResponse(response: JsonObject): Usage | null {
  const usage = servedByOpenAi(readResponsesUsage(response.usage), response.service_tier);
  if (usage === null) return null;
  const uses = new ResponseToolUses();
  uses.asked(response);
  let webSearches = 0;
  for (const [item] of objectsOf(response.output)) {
    uses.item(item);
    if (isWebSearch(item)) webSearches++;
  }
  return { ...usage, ...(webSearches > 0 && { webSearches }), ...uses.told };
}

/** Whether an item of an output is a search of the vendor's own, and not a look at what one found. */
export function isWebSearch(item: JsonObject): boolean {
  return item.type === "web_search_call" && (objectOf(item.action)?.type ?? "search") === "search";
}

/** The `usage` member of a response; null when it is not one. Cached counts are parts of the input. */
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
