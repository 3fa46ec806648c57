import type { JsonObject } from "../document.ts";
import { objectsOf } from "../openai/loose-fields.ts";
import { replyObject, tellsFailure } from "../openai/reply-object.ts";
import { visitMembers } from "../openai/text-places.ts";
import { TextMeasure } from "../openai/text-measure.ts";
import type { Usage } from "../usage.ts";
import { usageOfResponse } from "./usage.ts";

/** What governance reads of a whole response; null when the bytes are no JSON object, or tell of a failure. */
export function readResponsesReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  const body = replyObject(bytes);
  return body === null || tellsFailure(body, "output") ? null : { usage: usageOfResponse(body), outputCharacters: outputCharacters(body) };
}

/** Length of all texts of a response's output. */
export function outputCharacters(response: JsonObject): number {
  const measure = new TextMeasure();
  for (const [item] of objectsOf(response.output)) visitMembers("assistant", item, "output", measure.visit);
  return measure.characters;
}
