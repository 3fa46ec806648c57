import { messagesCodec } from "../../../wire/messages/messages-codec.ts";
import { imagenPictures } from "../../../wire/gemini/pictures.ts";
import { geminiTraits } from "../gemini/traits.ts";
import { veoVideos } from "../../../wire/videos/veo-videos.ts";
import type { ProviderTraits, ServedModel } from "../traits.ts";

export const vertexTraits = {
  ...geminiTraits,
  codecFor: (model) => (isClaude(model) ? messagesCodec : geminiTraits.codecFor()),
  pictures: (model: ServedModel) => (isClaude(model) ? null : isImagen(model) ? imagenPictures : geminiTraits.pictures()),
  speech: (model: ServedModel) => (isClaude(model) || isImagen(model) ? null : geminiTraits.speech()),
  videos: ({ modelName }: ServedModel) => (/(^|\/)veo-/.test(modelName) ? veoVideos : null),
  // For Gemini models, Vertex's token count takes another body than the Gemini API's.
  counts: (model, operation) => operation === "count_tokens" && isClaude(model),
} satisfies ProviderTraits;

function isImagen({ modelName }: ServedModel): boolean {
  return /(^|\/)(imagen|imagegeneration)/.test(modelName);
}

/** Anthropic's models, which Vertex serves in Anthropic's format. */
function isClaude({ modelName }: ServedModel): boolean {
  return /(^|\/)claude-/.test(modelName);
}
