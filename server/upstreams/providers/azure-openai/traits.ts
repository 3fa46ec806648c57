import { openaiTraits } from "../openai/traits.ts";
import type { ProviderTraits } from "../traits.ts";

/** Always OpenAI's own models, whatever a deployment's name. Azure serves other vendors' rerank models at other URLs. */
export const azureOpenaiTraits = {
  ...openaiTraits,
  ceilingName: () => "max_completion_tokens",
  passes: new Set([...openaiTraits.passes].filter((operation) => operation !== "rerank")),
} satisfies ProviderTraits;
