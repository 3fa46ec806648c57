import { messagesCodec } from "../../../wire/messages/messages-codec.ts";
import { isEventStreamType, type ProviderTraits } from "../traits.ts";

export const anthropicTraits = {
  codecFor: () => messagesCodec,
  ceilingName: null,
  keepsState: false,
  embeddings: "refused",
  counts: (_model, operation) => operation === "count_tokens",
  isStream: isEventStreamType,
  local: false,
} satisfies ProviderTraits;
