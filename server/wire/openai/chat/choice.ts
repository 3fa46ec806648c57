import type { Candidate, PicturePart } from "../../conversation/reply.ts";
import { UniqueCallIds } from "../../conversation/unique-call-ids.ts";
import type { Citation } from "../../conversation/citations.ts";
import { TextPositions } from "../../texts/text-positions.ts";
import { ANNOTATION_UNIT, webAnnotation } from "../annotations.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { chatFinishReason, refusalNote } from "./stop.ts";

/** One choice of a chat completion. */
export function choiceMember(candidate: Candidate): JsonObject {
  let text = "";
  let texts = 0;
  let reasoning = "";
  let refusal = refusalNote(candidate) ?? "";
  const calls: JsonObject[] = [];
  const images: JsonObject[] = [];
  const cited: (readonly [Citation, number])[] = [];
  const ids = new UniqueCallIds();
  for (const part of candidate.parts) {
    if (part.kind === "text") {
      for (const citation of part.citations ?? []) cited.push([citation, text.length]);
      text += part.text;
      texts++;
    } else if (part.kind === "reasoning") reasoning += part.text;
    else if (part.kind === "refusal") refusal += part.text;
    else if (part.kind === "picture") images.push(imageMember(part, images.length));
    else calls.push({ id: ids.of(part.id), type: "function", function: { name: part.name, arguments: part.arguments } });
  }
  const message: JsonObject = {
    role: "assistant",
    content: texts > 0 || (calls.length === 0 && refusal === "") ? text : null,
    refusal: refusal === "" ? null : refusal,
  };
  if (reasoning !== "") message.reasoning_content = reasoning;
  const annotations = chatAnnotations(cited, text);
  if (annotations.length > 0) message.annotations = annotations;
  if (images.length > 0) message.images = images;
  if (calls.length > 0) message.tool_calls = calls;
  const choice: JsonObject = {
    index: candidate.index,
    message,
    logprobs: null,
    finish_reason: chatFinishReason(
      candidate.stop,
      candidate.parts.some(({ kind }) => kind === "refusal"),
    ),
  };
  if (candidate.stopSequence !== null) choice.stop_reason = candidate.stopSequence;
  if (candidate.stopDetail !== null) choice.stop_detail = candidate.stopDetail;
  return choice;
}

/** `cited`: each citation with the start of its part in `content`. */
export function chatAnnotations(cited: readonly (readonly [Citation, number])[], content: string): JsonObject[] {
  if (cited.length === 0) return [];
  const positions = new TextPositions(ANNOTATION_UNIT, content);
  return cited.flatMap(([citation, before]) => {
    const page = webAnnotation(citation, positions, before);
    return page === null ? [] : [{ type: "url_citation", url_citation: page }];
  });
}

export function imageMember({ mediaType, base64 }: Pick<PicturePart, "mediaType" | "base64">, index: number): JsonObject {
  return { index, type: "image_url", image_url: { url: `data:${mediaType};base64,${base64}` } };
}
