import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { ratioOf } from "../images/aspect-ratio.ts";
import type { PicturesCodec } from "../images/pictures-codec.ts";
import { addedUsage } from "../usage.ts";
import type { Usage } from "../usage.ts";
import { partsOf, wordsOf } from "./answer-parts.ts";
import { objectIn, objectsIn, textIn } from "./members.ts";
import { readGeminiUsage } from "./usage.ts";

const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
/** The body for one image and how often to send it; not repeated, because it may contain 20 MiB of input images. */
export interface PicturesBody {
  readonly times: number;
  readonly each: JsonObject;
}

/** Gemini's image models, which answer with one image: several are requested one by one. */
export const geminiPictures: PicturesCodec = {
  operation: "gemini_images",
  // Google's limit for inline data.
  mostShown: 20 * 1024 * 1024,
  write({ prompt, count, size, quality, shown, others }) {
    const ratio = size === null ? null : ratioOf(RATIOS, size);
    if (size !== null && ratio === null)
      return { unsupported: { field: "size", message: `must have one of the ratios ${RATIOS.join(", ")} for this model` } };
    const side = size === null ? 0 : Math.sqrt(size.width * size.height);
    const imageSize = side <= 1_280 ? null : side <= 2_560 ? "2K" : "4K";
    const imageConfig: JsonObject = { ...(ratio !== null && { aspectRatio: ratio }), ...(imageSize !== null && { imageSize }) };
    const one: JsonObject = {
      contents: [
        { role: "user", parts: [...shown.map(({ mimeType, base64: data }) => ({ inlineData: { mimeType, data } })), { text: prompt }] },
      ],
      generationConfig: { responseModalities: ["TEXT", "IMAGE"], ...(Object.keys(imageConfig).length > 0 && { imageConfig }) },
    };
    const dropped = [...(quality === null ? [] : ["quality"]), ...others];
    return { body: JSON.stringify({ times: count, each: one } satisfies PicturesBody), dropped };
  },
  read(answers) {
    if (!Array.isArray(answers)) return null;
    const pictures: string[] = [];
    let usage: Usage | null = null;
    let declined: string | null = null;
    for (const answer of answers) {
      if (!isObject(answer)) return null;
      const reportedUsage = readGeminiUsage(answer.usageMetadata);
      if (reportedUsage !== null) usage = usage === null ? reportedUsage : addedUsage(usage, reportedUsage);
      const drawn = picturesIn(answer);
      pictures.push(...drawn);
      if (drawn.length === 0) declined ??= wordsOf(answer);
    }
    return { pictures, usage, declined };
  },
};

function picturesIn(answer: JsonObject): string[] {
  return partsOf(answer).flatMap((part) => {
    const inline = objectIn(part, "inlineData");
    const data = inline === null ? null : textIn(inline, "data");
    // Draft images among the thoughts are not results.
    return data === null || part.thought === true || textIn(inline as JsonObject, "mimeType")?.startsWith("image/") === false ? [] : [data];
  });
}

const IMAGEN_RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"];

/** Imagen, as served by Vertex AI. */
export const imagenPictures: PicturesCodec = {
  operation: "imagen",
  mostShown: null,
  write({ prompt, count, size, quality, others }) {
    const aspectRatio = size === null ? null : ratioOf(IMAGEN_RATIOS, size);
    if (size !== null && aspectRatio === null)
      return { unsupported: { field: "size", message: `must have one of the ratios ${IMAGEN_RATIOS.join(", ")} for this model` } };
    const large = size !== null && Math.sqrt(size.width * size.height) > 1_280;
    const parameters: JsonObject = {
      sampleCount: count,
      ...(aspectRatio !== null && { aspectRatio }),
      ...(large && { sampleImageSize: "2K" }),
    };
    return {
      body: JSON.stringify({ instances: [{ prompt }], parameters }),
      dropped: [...(quality === null ? [] : ["quality"]), ...others],
    };
  },
  read(answer: JsonValue) {
    if (!isObject(answer)) return null;
    const predictions = objectsIn(answer, "predictions");
    const pictures = predictions.flatMap((prediction) => textIn(prediction, "bytesBase64Encoded") ?? []);
    const filtered = predictions.map((prediction) => textIn(prediction, "raiFilteredReason")).find((reason) => reason !== null);
    return { pictures, usage: null, declined: pictures.length > 0 ? null : (filtered ?? "it gave no reason") };
  },
};
