import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import { objectOf } from "../openai/loose-fields.ts";

/** What a job says in words: why there is no video, as its provider put it. */
export const videoTexts: AnswerTexts = {
  counter: null,
  contents(body) {
    const contents = new ContentsList();
    const error = objectOf(body.error);
    if (error !== null) contents.whole(error, "message");
    contents.ends.push("");
    return contents;
  },
  continuation: () => undefined,
};
