import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/**
 * A transcript, or an event of its stream. The text stands in it up to three times: whole, in segments, which are looked at
 * as the one text they become, and word by word, which is taken out where a guardrail may change what was said.
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
  // Which text came before it is not known here, but that it goes on that is.
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
    // Some servers leave out the space between two of them, and two words would be looked at as one.
    if (!/\s$/.test(before) && !/^\s/.test(text)) segment.text = ` ${text}`;
    before = text;
    contents.piece("segments", segment, "text");
    contents.token(segment, "tokens", []);
    contents.token(segment, "words", []);
  }
}
