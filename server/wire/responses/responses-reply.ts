import type { JsonObject } from "../../kernel/json-value.ts";
import { objectsOf } from "../openai/loose-fields.ts";
import { replyObject, tellsFailure } from "../openai/reply-object.ts";
import { visitMembers } from "../openai/text-places.ts";
import { TextMeasure } from "../openai/text-measure.ts";
import type { Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import { isOpenResponse } from "./stored-response.ts";
import { feesOfResponse, usageOfResponse } from "./usage.ts";

interface ConversationReading {
  readonly usage: Usage | null;
  readonly fees: VendorFees;
  readonly outputCharacters: number;
  readonly meteredLater?: true;
}

/**
 * Usage and output length of a complete response; null if the bytes are not a JSON object, or report a failure. With
 * `background`, an unfinished response has no usage yet. `onResponse` is called with the response.
 */
export function readResponsesReply(
  bytes: Uint8Array,
  onResponse: (response: JsonObject) => unknown = () => undefined,
  background = false,
): ConversationReading | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  const open = background && isOpenResponse(body);
  if (!open && tellsFailure(body, "output")) return null;
  onResponse(body);
  return {
    usage: usageOfResponse(body),
    fees: feesOfResponse(body),
    outputCharacters: outputCharacters(body),
    ...(open && { meteredLater: true }),
  };
}

/** Total characters of the texts in a response's output. */
export function outputCharacters(response: JsonObject): number {
  const measure = new TextMeasure();
  for (const [item] of objectsOf(response.output)) visitMembers("assistant", item, "output", measure.visit);
  return measure.characters;
}
