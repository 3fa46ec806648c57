import { chatCodec } from "../../../wire/openai/chat-codec.ts";
import { azureSpeech } from "../../../wire/speech/azure-speech.ts";
import type { ProviderTraits } from "../traits.ts";

/** It speaks, and does nothing else: what is asked in a conversation's form is turned away before it leaves. */
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
