import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { AttemptParts } from "../routing/attempt.ts";

/** What a chat request to a model calls the ceiling on output: as its record says, else as its provider does. */
export function maxTokensNameOf(model: ModelEntry, providers: AttemptParts["providers"]): "max_tokens" | "max_completion_tokens" {
  return model.maxTokensParameter ?? providers[model.provider.apiFormat]?.traits.ceilingName?.(model) ?? "max_tokens";
}
