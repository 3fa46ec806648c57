import { converseCodec } from "../../../wire/converse/converse-codec.ts";
import { bedrockEmbeddings } from "../../../wire/converse/embeddings.ts";
import { bedrockReranking } from "../../../wire/converse/reranking.ts";
import { bedrockPictures } from "../../../wire/converse/pictures.ts";
import { novaReelVideos } from "../../../wire/videos/nova-reel-videos.ts";
import type { ProviderTraits } from "../traits.ts";

export const bedrockTraits = {
  codecFor: () => converseCodec,
  ceilingName: null,
  keepsState: () => false,
  embeddings: bedrockEmbeddings,
  pictures: () => bedrockPictures,
  reranking: bedrockReranking,
  videos: ({ modelName }) => (/nova-reel/.test(modelName) ? novaReelVideos : null),
  counts: () => false,
  isStream: (_operation, contentType) => contentType.startsWith("application/vnd.amazon.eventstream"),
  local: false,
} satisfies ProviderTraits;
