import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { objectsOf, stringOf } from "../openai/loose-fields.ts";
import { itemContents } from "./responses-answer-texts.ts";

/** Covers all vendors' IDs. The first character excludes `.` and `..`, so that an ID is safe as a path segment. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:=~+-]{0,255}$/;

/** Whether a text has the form of a response ID. */
export function isResponseId(text: string): boolean {
  return ID.test(text);
}

/** The ID under which a provider stores the response; null if it does not. */
export function storedIdOf(response: JsonObject): string | null {
  const id = stringOf(response.id);
  return response.store === false || id === null || !isResponseId(id) ? null : id;
}

/** Whether a response is not finished. */
export function isOpenResponse({ status }: JsonObject): boolean {
  return status === "queued" || status === "in_progress";
}

/** Texts of a list of a response's input items. */
export const inputItemsTexts: AnswerTexts = {
  counter: null,
  contents(body, whole) {
    const contents = new ContentsList();
    for (const [item, index] of objectsOf(body.data)) itemContents(item, index, contents);
    if (whole) contents.ends.push("");
    return contents;
  },
  continuation: () => undefined,
};
