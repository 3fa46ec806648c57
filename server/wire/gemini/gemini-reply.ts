import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import { partsOf } from "./answer-parts.ts";
import { Grounding } from "./grounding.ts";
import { member, objectIn, textIn } from "./members.ts";
import { readGeminiUsage } from "./usage.ts";

/** An object with none of these is not an answer. */
const MEMBERS = ["candidates", "promptFeedback", "usageMetadata"];

/** Usage and output length of a complete answer; null if the bytes are not a JSON object, or report a failure. */
export function readGeminiReply(bytes: Uint8Array): { usage: Usage | null; fees: VendorFees; outputCharacters: number } | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isObject(body) || member(body, "error") !== undefined || !MEMBERS.some((name) => member(body, name) !== undefined)) return null;
  const grounding = new Grounding();
  grounding.read(body);
  return {
    usage: grounding.of(readGeminiUsage(member(body, "usageMetadata"))),
    fees: grounding.fees,
    outputCharacters: geminiOutputLength(body),
  };
}

/** Characters of all texts and tool arguments in an answer or a piece of one, including thoughts, which are billed. */
export function geminiOutputLength(body: JsonObject): number {
  let length = 0;
  for (const part of partsOf(body)) {
    length += textIn(part, "text")?.length ?? 0;
    const call = objectIn(part, "functionCall");
    if (call !== null) length += JSON.stringify(member(call, "args") ?? {}).length;
  }
  return length;
}

/** Whether an answer or a piece of one contains audio or images. */
export function hasGeminiMedia(body: JsonObject): boolean {
  return partsOf(body).some((part) => objectIn(part, "inlineData") !== null);
}
