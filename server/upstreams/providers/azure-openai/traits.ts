import { openaiTraits } from "../openai/traits.ts";
import type { ProviderTraits } from "../traits.ts";

/** The vendor's own servers, whatever a deployment is named. Models of others that rerank have addresses of their own at Azure. */
export const azureOpenaiTraits = {
  ...openaiTraits,
  ceilingName: () => "max_completion_tokens",
  passes: new Set([...openaiTraits.passes].filter((operation) => operation !== "rerank")),
} satisfies ProviderTraits;
