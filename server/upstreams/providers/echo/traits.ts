import { chatCodec } from "../../../wire/openai/chat/codec.ts";
import { isEventStreamType, type ProviderTraits } from "../traits.ts";

export const echoTraits = {
  codecFor: () => chatCodec,
  ceilingName: () => "max_tokens",
  keepsState: () => false,
  embeddings: "passes",
  counts: () => false,
  isStream: isEventStreamType,
  local: true,
} satisfies ProviderTraits;
