import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import { storedTextProblems } from "../texts/kept-texts.ts";
import { isSize } from "./image-size.ts";
import { OURS } from "./pictures-request.ts";

const MAX_IMAGES = 10;
const MAX_PARTIALS = 3;

export function pictureProblems({
  prompt,
  n,
  size,
  quality,
  style,
  response_format: format,
  stream,
  partial_images: partials,
  ...value
}: JsonObject): FieldProblem[] {
  const fields: FieldProblem[] = [];
  const isSet = (one: unknown) => one !== undefined && one !== null;
  const check = (field: string, good: boolean, message: string) => {
    if (!good) fields.push({ field, message });
  };
  check("prompt", typeof prompt === "string" && prompt.trim() !== "", "must be a text that is not empty");
  check("n", !isSet(n) || (Number.isInteger(n) && (n as number) >= 1 && (n as number) <= MAX_IMAGES), `must be from 1 to ${MAX_IMAGES}`);
  check("size", !isSet(size) || isSize(size), 'must be "auto" or WIDTHxHEIGHT');
  check("quality", !isSet(quality) || (typeof quality === "string" && quality !== ""), "must be a text");
  check("style", !isSet(style) || style === "vivid" || style === "natural", "must be vivid or natural");
  check("response_format", !isSet(format) || format === "url" || format === "b64_json", "must be url or b64_json");
  check("stream", !isSet(stream) || typeof stream === "boolean", "must be true or false");
  check("response_format", stream !== true || format !== "url", "must be b64_json, or left out, where pictures are streamed");
  check(
    "partial_images",
    !isSet(partials) || (Number.isInteger(partials) && (partials as number) >= 0 && (partials as number) <= MAX_PARTIALS),
    `must be from 0 to ${MAX_PARTIALS}`,
  );
  return [...fields, ...storedTextProblems(value, OURS)];
}
