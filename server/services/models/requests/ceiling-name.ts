import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { AttemptParts } from "../routing/attempt.ts";

/** The parameter that limits output in a chat request to this model: from the model's record, else what its provider expects. */
export function maxTokensNameOf(model: ModelEntry, providers: AttemptParts["providers"]): "max_tokens" | "max_completion_tokens" {
  return model.maxTokensParameter ?? providers[model.provider.apiFormat]?.traits.ceilingName?.(model) ?? "max_tokens";
}
