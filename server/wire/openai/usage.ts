import type { JsonObject } from "../../kernel/json-value.ts";
import { servedByOpenAi } from "../serving.ts";
import { audioOf, plausibleUsage, count, type Usage } from "../usage.ts";
import { objectOf } from "./loose-fields.ts";

/** Reads the `usage` of a chat completion or embedding; null if it is not one. The prompt includes cached tokens. */
export function readChatUsage(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const usage = value as Record<string, unknown>;
  if (typeof usage.prompt_tokens !== "number") return null;
  const details = detailsOf(usage.prompt_tokens_details);
  const prompt = count(usage.prompt_tokens);
  // DeepSeek and Moonshot report it at the top level, under different names.
  const cacheRead = Math.min(count(details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens), prompt);
  const cacheWrite = Math.min(count(details.cache_write_tokens), prompt - cacheRead);
  const completion = count(usage.completion_tokens);
  const written = detailsOf(usage.completion_tokens_details);
  const reportedReasoning = count(written.reasoning_tokens);
  const beside = reasoningBeside(usage, prompt + completion, reportedReasoning);
  const output = completion + beside;
  const reasoning = Math.min(Math.max(reportedReasoning, beside), output);
  const inputUncached = prompt - cacheRead - cacheWrite;
  return plausibleUsage({
    inputUncached,
    cacheRead,
    cacheWrite,
    cacheWriteHour: 0,
    output,
    reasoning,
    ...audioOf(Math.min(count(details.audio_tokens), inputUncached), Math.min(count(written.audio_tokens), output)),
    estimated: false,
  });
}

/** The usage of a complete answer, or of a stream's last chunk; Groq reports it in its own member. */
export function usageOfChat(body: JsonObject): Usage | null {
  return servedByOpenAi(readChatUsage(body.usage ?? objectOf(body.x_groq)?.usage), body.service_tier);
}

/**
 * Reasoning tokens that are only in the total, not in the completion's count: xAI reports them in the details, Google's
 * OpenAI-compatible endpoint nowhere. If other counts are reported, the difference may have another cause.
 */
function reasoningBeside(usage: Record<string, unknown>, sum: number, reportedReasoning: number): number {
  const rest = Math.max(0, count(usage.total_tokens) - sum);
  const isBare = typeof usage.completion_tokens === "number" && Object.keys(usage).length === 3;
  return rest === reportedReasoning || isBare ? rest : 0;
}

function detailsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
