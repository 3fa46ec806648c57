import type { JsonObject } from "../../kernel/json-value.ts";
import { cacheWriteTokens, type Usage } from "../usage.ts";

const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** The `usage` of a complete message, with zeros if the provider reported none, because clients do not check for it. */
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
 * The `usage` at the end of a stream. The vendor omits the split of cache writes; it is included only if there are
 * one-hour writes, which would otherwise be taken for short ones.
 */
export function finalMessagesUsageMember(usage: Usage | null): JsonObject {
  const { cache_creation: split, service_tier: _tier, speed: _speed, inference_geo: _geo, ...rest } = messagesUsageMember(usage);
  return usage !== null && usage.cacheWriteHour > 0 ? { ...rest, cache_creation: split } : rest;
}
