import { type AnswerTexts, ContentsList } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { objectsOf, stringOf } from "../openai/loose-fields.ts";
import { itemContents } from "./responses-answer-texts.ts";

/** No vendor's ids are longer, nor written with other letters. It begins so that it can be no step in a path. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:=~+-]{0,255}$/;

/** Whether a text can be the id of a response. */
export function isResponseId(text: string): boolean {
  return ID.test(text);
}

/** The id under which a provider keeps a response; null where it keeps none. */
export function storedIdOf(response: JsonObject): string | null {
  const id = stringOf(response.id);
  return response.store === false || id === null || !isResponseId(id) ? null : id;
}

/** Whether a response is still being written. */
export function isOpenResponse({ status }: JsonObject): boolean {
  return status === "queued" || status === "in_progress";
}

/** A list of the items that a response was asked with. */
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
