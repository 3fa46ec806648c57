import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import { objectsOf } from "../openai/loose-fields.ts";

/** The texts in an image answer or stream event: the revised prompt. */
export const pictureTexts: AnswerTexts = {
  counter: null,
  contents(body) {
    const contents = new ContentsList();
    contents.whole(body, "revised_prompt");
    for (const [picture] of objectsOf(body.data)) contents.whole(picture, "revised_prompt");
    contents.ends.push("");
    return contents;
  },
  continuation: () => undefined,
};
