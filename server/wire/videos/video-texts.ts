import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import { objectOf } from "../openai/loose-fields.ts";

/** The texts of a job: the provider's error message. */
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
