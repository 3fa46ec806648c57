import { isObject } from "../../kernel/json-value.ts";
import type { PicturesCodec } from "../images/pictures-codec.ts";

const FINEST = new Set(["premium", "hd", "high"]);
const USUAL = { width: 1_024, height: 1_024 };
const MOST_AT_ONCE = 5;

/** Amazon's image models, called with InvokeModel. */
export const bedrockPictures: PicturesCodec = {
  operation: "bedrock_images",
  mostShown: null,
  write({ prompt, count, size, quality, others }) {
    if (count > MOST_AT_ONCE) return { unsupported: { field: "n", message: `must be at most ${MOST_AT_ONCE} for this model` } };
    const imageGenerationConfig = {
      numberOfImages: count,
      ...(size ?? USUAL),
      quality: FINEST.has(quality ?? "") ? "premium" : "standard",
    };
    return {
      body: JSON.stringify({ taskType: "TEXT_IMAGE", textToImageParams: { text: prompt }, imageGenerationConfig }),
      dropped: others,
    };
  },
  read(answer) {
    if (!isObject(answer)) return null;
    const { images, error } = answer;
    const pictures = Array.isArray(images) ? images.filter((image) => typeof image === "string") : [];
    if (pictures.length === 0 && typeof error !== "string") return null;
    return { pictures, usage: null, declined: typeof error === "string" ? error : null };
  },
};
