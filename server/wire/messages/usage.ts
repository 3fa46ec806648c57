import { isObject, type JsonObject } from "../document.ts";
import { plausibleUsage, cacheWriteTokens, count, type Usage } from "../usage.ts";

/** The `usage` member of a message; null when it is not one. Its input count leaves the cache out. */
export function readMessagesUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  if (typeof value.input_tokens !== "number" && typeof value.output_tokens !== "number") return null;
  const split = isObject(value.cache_creation) ? value.cache_creation : {};
  const cacheWriteHour = count(split.ephemeral_1h_input_tokens);
  const cacheWriteShort = count(split.ephemeral_5m_input_tokens);
  // What the split leaves unexplained was written for the default time.
  const unexplained = Math.max(0, count(value.cache_creation_input_tokens) - cacheWriteHour - cacheWriteShort);
  const output = count(value.output_tokens);
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const webSearches = isObject(value.server_tool_use) ? count(value.server_tool_use.web_search_requests) : 0;
  return plausibleUsage({
    inputUncached: count(value.input_tokens),
    cacheRead: count(value.cache_read_input_tokens),
    cacheWrite: cacheWriteShort + unexplained,
    cacheWriteHour,
    output,
    reasoning: Math.min(count(details.thinking_tokens), output),
    ...(webSearches > 0 ? { webSearches } : {}),
    estimated: false,
  });
}

/**
 * A stream tells its usage twice: whole at the start, and at the end what changed, as totals of the whole answer. So a
 * later member replaces an earlier one, and one that is absent or null leaves it.
 */
export function mergeMessagesUsage(known: JsonObject | null, more: unknown): JsonObject | null {
  if (!isObject(more)) return known;
  const merged: JsonObject = { ...known };
  for (const [name, value] of Object.entries(more)) if (value !== null && value !== undefined) merged[name] = value;
  return merged;
}

const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** The `usage` of a whole message, all counts 0 where the provider told none: clients read it without looking. */
export function messagesUsageMember(usage: Usage | null): JsonObject {
  const known = usage ?? NOTHING;
  return {
    input_tokens: known.inputUncached,
    cache_creation_input_tokens: cacheWriteTokens(known),
    cache_read_input_tokens: known.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: known.cacheWrite, ephemeral_1h_input_tokens: known.cacheWriteHour },
    output_tokens: known.output,
    output_tokens_details: { thinking_tokens: known.reasoning },
    server_tool_use: null,
    service_tier: null,
    speed: null,
    inference_geo: null,
  };
}

/**
 * The `usage` of the frame that ends a stream. The vendor leaves the split of cache writes out; it is told only where all would be taken
 * for short ones.
 */
export function finalMessagesUsageMember(usage: Usage | null): JsonObject {
  const { cache_creation: split, service_tier: _tier, speed: _speed, inference_geo: _geo, ...rest } = messagesUsageMember(usage);
  return usage !== null && usage.cacheWriteHour > 0 ? { ...rest, cache_creation: split } : rest;
}
