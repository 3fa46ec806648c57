import { objectOf } from "../openai/loose-fields.ts";
import { audioOf, count, imagesOf, plausibleUsage, type Usage } from "../usage.ts";

/** Reads the usage of a `response.done` event; null if it reports none. Cached tokens are part of the input, audio of both sides. */
export function realtimeUsage(reported: unknown): Usage | null {
  const usage = objectOf(reported);
  if (usage === null || typeof usage.input_tokens !== "number") return null;
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  const taken = objectOf(usage.input_token_details);
  const cached = objectOf(taken?.cached_tokens_details);
  const cacheRead = Math.min(count(taken?.cached_tokens), input);
  const uncached = input - cacheRead;
  const fresh = (name: "audio_tokens" | "image_tokens") => Math.min(Math.max(0, count(taken?.[name]) - count(cached?.[name])), uncached);
  return plausibleUsage({
    inputUncached: uncached,
    cacheRead,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output,
    reasoning: 0,
    ...audioOf(fresh("audio_tokens"), Math.min(count(objectOf(usage.output_token_details)?.audio_tokens), output)),
    ...imagesOf(fresh("image_tokens"), 0, Math.min(count(cached?.image_tokens), cacheRead)),
    estimated: false,
  });
}
