import type { JsonObject } from "../kernel/json-value.ts";
import { objectsOf } from "./openai/loose-fields.ts";

/** Whether a request continues a conversation, or refers to a part of one, that is stored at the provider. */
export function continuesStored({ previous_response_id: previous, conversation, thread, input }: JsonObject): boolean {
  if ([previous, conversation, thread].some((member) => member !== undefined && member !== null)) return true;
  return objectsOf(input).some(([item]) => item.type === "item_reference");
}
