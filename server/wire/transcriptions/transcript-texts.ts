import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/**
 * Texts of a transcript or of an event of its stream. A transcript may contain its text three times: whole; in segments,
 * inspected as one text; and by word, which is removed if a guardrail may change the text.
 */
export const transcriptTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    if (whole) wholeContents(body, contents);
    else eventContents(body, contents);
    return contents;
  },
  continuation: () => undefined,
};

function wholeContents(body: JsonObject, contents: ContentsList): void {
  contents.whole(body, "text");
  segments(body, contents);
  contents.token(body, "words", []);
  contents.token(body, "logprobs", []);
  contents.ends.push("");
}

function eventContents(event: JsonObject, contents: ContentsList): void {
  const type = filledOf(event.type) ?? "";
  if (type.endsWith(".delta")) contents.piece("text", event, "delta");
  // The preceding segment is not known here, but this one continues it.
  else if (type === "transcript.text.segment") segments({ segments: [event] }, contents, "");
  else contents.whole(event, "text");
  contents.token(event, "logprobs", []);
  segments(event, contents);
  if (type === "transcript.text.done") contents.ends.push("");
}

function segments(body: JsonObject, contents: ContentsList, before = " "): void {
  for (const [segment] of objectsOf(body.segments)) {
    const text = filledOf(segment.text);
    if (text === null) continue;
    // Some servers omit the space between segments, so that two words would be inspected as one.
    if (!/\s$/.test(before) && !/^\s/.test(text)) segment.text = ` ${text}`;
    before = text;
    contents.piece("segments", segment, "text");
    contents.token(segment, "tokens", []);
    contents.token(segment, "words", []);
  }
}
