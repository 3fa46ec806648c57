import { messagesCodec } from "../../../wire/messages/messages-codec.ts";
import { isEventStreamType, type ProviderTraits } from "../traits.ts";

/** Compatible servers accept `thread` too, but answer only the newest message, so only the vendor is trusted to keep state. */
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
