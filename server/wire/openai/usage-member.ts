import type { JsonObject } from "../../kernel/json-value.ts";
import { cacheWriteTokens, inputTokens, type Usage } from "../usage.ts";

/** The `usage` of a chat or legacy completion. */
export function chatUsageMember(usage: Usage): JsonObject {
  const prompt = inputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: cacheWriteTokens(usage),
      ...audioMember(usage.audioInput),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, ...audioMember(usage.audioOutput) },
  };
}

function audioMember(tokens: number | undefined): JsonObject {
  return tokens === undefined ? {} : { audio_tokens: tokens };
}
