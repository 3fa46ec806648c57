import type { ConversationFormat, ProviderCodec } from "../../../wire/conversation/codec.ts";
import { completionsCodec } from "../../../wire/completions/completions-codec.ts";
import { chatCodec } from "../../../wire/openai/chat/codec.ts";
import { responsesCodec } from "../../../wire/responses/responses-codec.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { openaiVideos } from "../../../wire/videos/openai-videos.ts";
import { isEventStreamType, type ProviderTraits, type ServedModel } from "../traits.ts";

/** Models that take the output limit by OpenAI's newer name; some take no other. */
const NEWER_CEILING = /(^|\/)(gpt-[5-9]|o\d)/;

export const openaiTraits = {
  codecFor,
  // Most compatible servers only know the older name.
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
  // Compatible servers do not have this operation.
  counts: ({ provider }: ServedModel, operation) => operation === "responses_count" && isOpenAi(provider),
  isStream: (operation, type) => isEventStreamType(operation, type) || (operation === "speech" && isAudio(type)),
  local: false,
} satisfies ProviderTraits;

function isOpenAi({ baseUrl }: ServedModel["provider"]): boolean {
  return baseUrl.startsWith("https://api.openai.com");
}

/** Some servers send audio without its media type. */
function isAudio(contentType: string): boolean {
  return contentType.startsWith("audio/") || contentType.startsWith("application/octet-stream");
}

/** Chosen by the model's modes, which name the endpoints its server has. */
function codecFor({ modes }: ServedModel, caller: ConversationFormat): ProviderCodec {
  if (caller === "responses" && modes.includes("responses")) return responsesCodec;
  if (caller === "completions" && modes.includes("completion")) return completionsCodec;
  return modes.includes("chat") || !modes.includes("responses") ? chatCodec : responsesCodec;
}
