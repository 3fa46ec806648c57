import { geminiCodec } from "../../../wire/gemini/gemini-codec.ts";
import { geminiEmbeddings } from "../../../wire/gemini/embeddings.ts";
import { geminiPictures } from "../../../wire/gemini/pictures.ts";
import { geminiSpeech } from "../../../wire/gemini/speech.ts";
import { interactionsVideos } from "../../../wire/videos/interactions-videos.ts";
import { isEventStreamType, type ProviderTraits } from "../traits.ts";

export const geminiTraits = {
  codecFor: () => geminiCodec,
  ceilingName: null,
  keepsState: () => false,
  embeddings: geminiEmbeddings,
  pictures: () => geminiPictures,
  speech: () => geminiSpeech,
  videos: () => interactionsVideos,
  counts: (_model, operation) => operation === "gemini_count",
  // A streamed JSON array has the same content type as plain JSON.
  isStream: (operation, contentType) => operation === "gemini_array" || isEventStreamType(operation, contentType),
  local: false,
} satisfies ProviderTraits;
