import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import { partsOf } from "./answer-parts.ts";
import { withSearches } from "./grounding.ts";
import { member, objectIn, textIn } from "./members.ts";
import { readGeminiUsage } from "./usage.ts";

/** An object without any of them is no answer of Google's. */
const MEMBERS = ["candidates", "promptFeedback", "usageMetadata"];

/** What governance reads of a whole answer; null when the bytes are no JSON object, or tell of a failure. */
export function readGeminiReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isObject(body) || member(body, "error") !== undefined || !MEMBERS.some((name) => member(body, name) !== undefined)) return null;
  return { usage: withSearches(body, readGeminiUsage(member(body, "usageMetadata"))), outputCharacters: geminiOutputLength(body) };
}

/** Length of all texts and tool arguments in an answer or a piece of one, thoughts included: they are billed. */
export function geminiOutputLength(body: JsonObject): number {
  let length = 0;
  for (const part of partsOf(body)) {
    length += textIn(part, "text")?.length ?? 0;
    const call = objectIn(part, "functionCall");
    if (call !== null) length += JSON.stringify(member(call, "args") ?? {}).length;
  }
  return length;
}

/** Whether an answer or a piece of one holds sound or pictures. */
export function hasGeminiMedia(body: JsonObject): boolean {
  return partsOf(body).some((part) => objectIn(part, "inlineData") !== null);
}
