import { chatCodec } from "../../../wire/openai/chat-codec.ts";
import { isEventStream, type ProviderTraits } from "../traits.ts";

export const echoTraits = {
  codecFor: () => chatCodec,
  ceilingName: () => "max_tokens",
  keepsState: false,
  embeddings: "passes",
  counts: () => false,
  isStream: isEventStream,
  local: true,
} satisfies ProviderTraits;
