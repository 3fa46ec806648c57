import { chatCodec } from "../../../wire/openai/chat/codec.ts";
import { azureSpeech } from "../../../wire/speech/azure-speech.ts";
import type { ProviderTraits } from "../traits.ts";

/** Only speech is supported: conversations are refused before anything is sent. */
export const azureSpeechTraits = {
  codecFor: () => chatCodec,
  ceilingName: null,
  keepsState: () => false,
  embeddings: "refused",
  speech: () => azureSpeech,
  counts: () => false,
  isStream: (operation, type) => operation === "azure_speech" && /^(?:audio\/|application\/octet-stream)/.test(type),
  local: false,
} satisfies ProviderTraits;
