import type { PicturePart } from "../../conversation/reply.ts";
import type { AssistantPart, CacheHint, ImagePart } from "../../conversation/conversation-parts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { JoinedText } from "../../conversation/citations.ts";
import { readAnnotations } from "../annotations.ts";
import { cacheHint } from "./content-reader.ts";
import { sourceOfUrl } from "../data-url.ts";
import { filledOf, looseListOf, objectOf, objectsOf, stringOf, textOrJson } from "../loose-fields.ts";

/** The texts of an assistant's message in order, with reasoning first, as vendors intend. */
export function assistantTexts(message: JsonObject): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const reasoning = filledOf(message.reasoning_content) ?? filledOf(message.reasoning);
  if (reasoning !== null) parts.push({ kind: "reasoning", text: reasoning, redacted: false });
  for (const piece of contentPieces(message.content))
    parts.push(piece.kind === "reasoning" ? { kind: "reasoning", text: piece.text, redacted: false } : { ...piece, kind: piece.kind });
  const refusal = filledOf(message.refusal);
  if (refusal !== null) parts.push({ kind: "refusal", text: refusal });
  return parts;
}

/** The texts of a model's message with their annotations, whose positions are in all of its `content`. */
export function citedTexts(message: JsonObject): AssistantPart[] {
  const parts = assistantTexts(message);
  const joined = new JoinedText();
  for (const [at, part] of parts.entries()) if (part.kind === "text") joined.add(at, part.text);
  const citations = readAnnotations(message.annotations, joined);
  if (citations.length === 0) return parts;
  return parts.map((part, at) => {
    const own = citations.filter((citation) => citation.part === at).map(({ part: _part, ...citation }) => citation);
    return part.kind === "text" && own.length > 0 ? { ...part, citations: own } : part;
  });
}

export interface ContentPiece {
  readonly kind: "text" | "reasoning" | "refusal";
  readonly text: string;
  readonly cache?: CacheHint;
}

/** The `content` of a model's message or delta: a string, or a list that may include thinking (Mistral). */
export function contentPieces(content: unknown): ContentPiece[] {
  const whole = filledOf(content);
  if (whole !== null) return [{ kind: "text", text: whole }];
  const pieces: ContentPiece[] = [];
  for (const entry of looseListOf(content)) {
    const plain = filledOf(entry);
    if (plain !== null) pieces.push({ kind: "text", text: plain });
    const part = objectOf(entry);
    if (part === null) continue;
    const kind = part.type === "thinking" ? "reasoning" : part.type === "refusal" ? "refusal" : "text";
    const text = kind === "reasoning" ? thinkingText(part.thinking) : (filledOf(part.refusal) ?? filledOf(part.text));
    if (text !== null && text !== "") pieces.push({ kind, text, ...(kind === "text" ? cacheHint(part) : {}) });
  }
  return pieces;
}

/** The places of content parts that `contentPieces` does not read, other than images, which are read separately. */
export function unreadPieces(content: unknown): number[] {
  return objectsOf(content).flatMap(([part, place]) =>
    part.type === "image_url" || part.type === "thinking" || stringOf(part.refusal) !== null || stringOf(part.text) !== null ? [] : [place],
  );
}

function thinkingText(thinking: unknown): string | null {
  if (typeof thinking === "string") return thinking;
  let text = "";
  for (const [part] of objectsOf(thinking)) text += filledOf(part.text) ?? "";
  return text;
}

/** The JSON text of a call's arguments, which some servers send as an object; `{}` for a call without arguments. */
export function argumentsText(value: unknown): string {
  const text = textOrJson(value);
  return text === null || isNothing(text) ? "{}" : text;
}

/** Some servers send null for a tool without parameters, which is not an object. */
function isNothing(args: string): boolean {
  const argumentText = args.trim();
  return argumentText === "" || argumentText === "null";
}

/** The images in a message or delta, in OpenRouter's form. */
export function pictures(message: JsonObject): PicturePart[] {
  return objectsOf(message.images).flatMap(([image]) => {
    const from = sourceOfUrl(textOrJson(objectOf(image.image_url)?.url) ?? "");
    return from !== null && "base64" in from.source
      ? [{ kind: "picture", mediaType: from.mediaType ?? "image/png", base64: from.source.base64 }]
      : [];
  });
}

/** The model's images in a message of the history, each with its field: in `images`, or within `content` as some clients send them. */
export function ownPictures(message: JsonObject, field: string): (readonly [ImagePart, string])[] {
  const among = objectsOf(message.content).filter(([part]) => part.type === "image_url");
  const places = [
    ...objectsOf(message.images).map(([image]) => [image, `${field}.images`] as const),
    ...among.map(([part, i]) => [part, `${field}.content[${i}]`] as const),
  ];
  return places.flatMap(([image, place]) => {
    const found = sourceOfUrl(textOrJson(objectOf(image.image_url)?.url) ?? "");
    return found === null || ("url" in found.source && found.source.url === "") ? [] : [[{ kind: "image", ...found }, place] as const];
  });
}

/** The function calls of a message; other kinds of calls are left out. `mint` returns an ID for a call without one. */
export function functionCalls(message: JsonObject, mint: (place: number) => string): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const add = (called: JsonObject | null, id: string | null, place: number) => {
    const name = filledOf(called?.name);
    if (name !== null) parts.push({ kind: "tool_call", id: id ?? mint(place), name, arguments: argumentsText(called?.arguments) });
  };
  for (const [call, place] of objectsOf(message.tool_calls)) add(objectOf(call.function), filledOf(call.id), place);
  // If a call is present in both the current and the older form, it is the same call.
  if (parts.length === 0) add(objectOf(message.function_call), null, 0);
  return parts;
}
