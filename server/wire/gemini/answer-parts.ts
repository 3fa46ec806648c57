import type { JsonObject } from "../../kernel/json-value.ts";
import { objectIn, objectsIn, textIn } from "./members.ts";

export function partsOf(answer: JsonObject): readonly JsonObject[] {
  return objectsIn(answer, "candidates").flatMap((candidate) => {
    const content = objectIn(candidate, "content");
    return content === null ? [] : objectsIn(content, "parts");
  });
}

/** Used for an answer that contains no media and gives no reason. */
export const NO_REASON = "it gave no reason";

/** The reason, in the provider's words, why an answer contains no media. */
export function wordsOf(answer: JsonObject): string {
  const texts = partsOf(answer).flatMap((part) => (part.thought === true ? [] : (textIn(part, "text") ?? [])));
  const feedback = objectIn(answer, "promptFeedback");
  const reason =
    (feedback === null ? null : textIn(feedback, "blockReason")) ??
    objectsIn(answer, "candidates")
      .map((candidate) => textIn(candidate, "finishReason"))
      .find((one) => one !== null && one !== "STOP");
  return texts.join("").trim() || reason || NO_REASON;
}
