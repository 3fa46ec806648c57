import type { ConversationFormat, ProviderCodec } from "../../../wire/conversation/codec.ts";
import { completionsCodec } from "../../../wire/completions/completions-codec.ts";
import { chatCodec } from "../../../wire/openai/chat-codec.ts";
import { responsesCodec } from "../../../wire/responses/responses-codec.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { openaiVideos } from "../../../wire/videos/openai-videos.ts";
import { isEventStreamType, type ProviderTraits, type ServedModel } from "../traits.ts";

/** Models whose servers take the ceiling on output by OpenAI's newer name, and some of them by no other. */
const NEWER_CEILING = /(^|\/)(gpt-[5-9]|o\d)/;

export const openaiTraits = {
  codecFor,
  // Most compatible servers know the older name alone.
  ceilingName: ({ modelName, provider }: ServedModel) =>
    isOpenAi(provider) || NEWER_CEILING.test(modelName) ? "max_completion_tokens" : "max_tokens",
  keepsState: () => true,
  embeddings: "passes",
  passes: new Set([
    "images",
    "image_edits",
    "speech",
    "transcriptions",
    "translations",
    "moderations",
    "rerank",
  ] as const) as ReadonlySet<ProviderOperation>,
  videos: () => openaiVideos,
  // Compatible servers do not know it.
  counts: ({ provider }: ServedModel, operation) => operation === "responses_count" && isOpenAi(provider),
  isStream: (operation, type) => isEventStreamType(operation, type) || (operation === "speech" && isSound(type)),
  local: false,
} satisfies ProviderTraits;

function isOpenAi({ baseUrl }: ServedModel["provider"]): boolean {
  return baseUrl.startsWith("https://api.openai.com");
}

/** Some servers do not say of sound what it is. */
function isSound(contentType: string): boolean {
  return contentType.startsWith("audio/") || contentType.startsWith("application/octet-stream");
}

/** An OpenAI-compatible server serves the endpoints its model's modes name. */
function codecFor({ modes }: ServedModel, caller: ConversationFormat): ProviderCodec {
  if (caller === "responses" && modes.includes("responses")) return responsesCodec;
  if (caller === "completions" && modes.includes("completion")) return completionsCodec;
  return modes.includes("chat") || !modes.includes("responses") ? chatCodec : responsesCodec;
}
