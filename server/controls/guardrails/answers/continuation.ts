import type { JsonObject } from "../../../kernel/json-value.ts";
import type { AnswerContents, AnswerTexts } from "../../../wire/texts/answer-texts.ts";
import type { Frame } from "../../../road/output/frames.ts";

/** A frame in the caller's format, made from the latest one, with only `text` on the channel. */
export function continuationOf(
  latest: Frame,
  texts: AnswerTexts,
  contentsOf: (body: JsonObject) => AnswerContents,
  { channel, text }: { readonly channel: string; readonly text: string },
): Frame {
  const body = structuredClone(latest.body) as JsonObject;
  texts.continuation(body);
  let wasInspected = false;
  for (const piece of contentsOf(body).pieces) {
    piece.holder[piece.key] = piece.channel === channel && !wasInspected ? text : "";
    if (piece.channel === channel) wasInspected = true;
  }
  if (!wasInspected) throw new Error("a frame cannot be continued");
  return { bytes: latest.bytes, body, closes: false, changed: true };
}
