import { openaiTraits } from "../openai/traits.ts";
import type { ProviderTraits } from "../traits.ts";

/** The vendor's own servers, whatever a deployment is named. */
export const azureOpenaiTraits = { ...openaiTraits, ceilingName: () => "max_completion_tokens" } satisfies ProviderTraits;
