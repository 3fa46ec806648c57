import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { servedByMessages } from "../serving.ts";
import { addedUsage, plausibleUsage, count, type Usage } from "../usage.ts";

/** Reads the `usage` of a message; null if it is not one. Usage of compactions is not in its totals, only in `iterations`. */
export function readMessagesUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  let usage = servedByMessages(countsIn(value), value);
  if (usage === null || !Array.isArray(value.iterations)) return usage;
  for (const one of value.iterations) {
    const taken = isObject(one) && one.type === "compaction" ? countsIn(one) : null;
    if (taken !== null) usage = addedUsage(usage, taken);
  }
  return plausibleUsage(usage);
}

/** The input count excludes cached tokens. */
function countsIn(value: JsonObject): Usage | null {
  if (typeof value.input_tokens !== "number" && typeof value.output_tokens !== "number") return null;
  const split = isObject(value.cache_creation) ? value.cache_creation : {};
  const cacheWriteHour = count(split.ephemeral_1h_input_tokens);
  const cacheWriteShort = count(split.ephemeral_5m_input_tokens);
  // Tokens missing in the split were written with the default lifetime.
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
 * A stream reports usage twice: complete at the start, and at the end the changed totals. A later member therefore
 * replaces an earlier one, unless it is absent or null.
 */
export function mergeMessagesUsage(known: JsonObject | null, more: unknown): JsonObject | null {
  if (!isObject(more)) return known;
  const merged: JsonObject = { ...known };
  for (const [name, value] of Object.entries(more)) if (value !== null && value !== undefined) merged[name] = value;
  return merged;
}
