import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/** Texts of a legacy completion or a chunk of one. */
export const completionsAnswerTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    for (const [choice, at] of objectsOf(body.choices)) {
      const index = typeof choice.index === "number" ? choice.index : at;
      for (const name of ["text", "reasoning"]) contents.piece(`${index}.${name}`, choice, name);
      if (!whole) contents.delta(choice, index);
      contents.token(choice, "logprobs", null);
      if (!whole && filledOf(choice.finish_reason) !== null) contents.finish(`${index}.`);
    }
    if (whole) contents.ends.push("");
    return contents;
  },
  continuation: () => undefined,
};
