import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { count, imagesOf, type Usage } from "../usage.ts";

export interface ImagesReply {
  readonly body: JsonObject;
  /** The number of images received, and the tokens if the vendor reports any. */
  readonly usage: Usage;
}

export const NO_PICTURES: Usage = {
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteHour: 0,
  output: 0,
  reasoning: 0,
  estimated: false,
};

/** For answers without usage. */
export const NO_TOKENS_TOLD: JsonObject = {
  input_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
};

/** Reads an answer to POST /images/generations in OpenAI's format; null if the bytes are not one. */
export function readImagesReply(bytes: Uint8Array): ImagesReply | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isObject(body) || !Array.isArray(body.data)) return null;
  if (!body.data.every((item) => isObject(item) && (typeof item.b64_json === "string" || typeof item.url === "string"))) return null;
  return { body, usage: { ...reportedPictureTokens(body.usage), images: body.data.length } };
}

/** The token usage in an answer or stream event. */
export function reportedPictureTokens(usage: unknown): Usage {
  if (!isObject(usage as JsonObject)) return NO_PICTURES;
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = usage as JsonObject;
  const input = count(input_tokens);
  const details = isObject(input_tokens_details ?? null) ? (input_tokens_details as JsonObject) : {};
  const cacheRead = Math.min(count(details.cached_tokens), input);
  const cached = isObject(details.cached_tokens_details ?? null) ? (details.cached_tokens_details as JsonObject) : {};
  const cachedImages = Math.min(count(cached.image_tokens), cacheRead);
  const output = count(output_tokens);
  const drawn = isObject(output_tokens_details) ? count(output_tokens_details.image_tokens) : output;
  return {
    ...NO_PICTURES,
    inputUncached: input - cacheRead,
    cacheRead,
    output,
    // The prompt's image tokens include cached ones.
    ...imagesOf(
      Math.min(Math.max(0, count(details.image_tokens) - cachedImages), input - cacheRead),
      Math.min(drawn, output),
      cachedImages,
    ),
  };
}

export function onlyPictures(images: number): Usage {
  return { ...NO_PICTURES, images, estimated: true };
}
