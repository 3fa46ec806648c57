import { converseCodec } from "../../../wire/converse/converse-codec.ts";
import { bedrockEmbeddings } from "../../../wire/converse/embeddings.ts";
import { bedrockPictures } from "../../../wire/converse/pictures.ts";
import type { ProviderTraits } from "../traits.ts";

export const bedrockTraits = {
  codecFor: () => converseCodec,
  ceilingName: null,
  keepsState: false,
  embeddings: bedrockEmbeddings,
  pictures: () => bedrockPictures,
  counts: () => false,
  isStream: (_operation, contentType) => contentType.startsWith("application/vnd.amazon.eventstream"),
  local: false,
} satisfies ProviderTraits;
