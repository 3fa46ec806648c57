import { messagesCodec } from "../../../wire/messages/messages-codec.ts";
import { isEventStreamType, type ProviderTraits } from "../traits.ts";

/** Servers that only speak the format take `thread` too, and answer to the newest message alone. */
const VENDOR = /^https:\/\/(?:[\w-]+\.)*anthropic\.com(?:[:/]|$)/;

export const anthropicTraits = {
  codecFor: () => messagesCodec,
  ceilingName: null,
  keepsState: ({ provider }) => VENDOR.test(provider.baseUrl),
  embeddings: "refused",
  counts: (_model, operation) => operation === "count_tokens",
  isStream: isEventStreamType,
  local: false,
} satisfies ProviderTraits;
