import type { Usage } from "../usage.ts";

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0);

/** The `usage` member of a chat completion or embedding; null when it is not one. Cached counts are parts of the prompt. */
export function usageOf(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const usage = value as Record<string, unknown>;
  if (typeof usage.prompt_tokens !== "number") return null;
  const details = (typeof usage.prompt_tokens_details === "object" && usage.prompt_tokens_details !== null ? usage.prompt_tokens_details : {}) as Record<string, unknown>;
  const prompt = count(usage.prompt_tokens);
  const cacheRead = Math.min(count(details.cached_tokens ?? usage.prompt_cache_hit_tokens), prompt);
  const cacheWrite = Math.min(count(details.cache_write_tokens), prompt - cacheRead);
  return { inputUncached: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output: count(usage.completion_tokens), estimated: false };
}
