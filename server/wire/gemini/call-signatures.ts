import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { listIn, objectIn, textIn } from "./members.ts";
import { generationOf } from "./model-name.ts";

/**
 * From this generation on, Google refuses unsigned calls in the current exchange. Calls of other models, or with a
 * signature lost by the client, get this placeholder, which Google documents for the purpose.
 */
const REQUIRES_SIGNATURES = 3;
const NO_SIGNATURE = "skip_thought_signature_validator";

/**
 * Adds the missing signatures; returns the same list if there are none. Only the first call of each step is signed, and
 * only the steps since the last user message are checked. A step may be several contents in a row: Google's clients store each piece of a
 * streamed answer as one.
 */
export function withCallSignatures(contents: readonly JsonValue[], model: string): readonly JsonValue[] {
  if ((generationOf(model) ?? 0) < REQUIRES_SIGNATURES) return contents;
  let signed = contents;
  for (let i = contents.length - 1; i >= 0; i--) {
    const content = contents[i];
    if (!isObject(content)) continue;
    const parts = listIn(content, "parts");
    if (content.role !== "model") {
      if (parts.some((part) => !isObject(part) || objectIn(part, "functionResponse") === null)) break;
      continue;
    }
    const at = parts.findIndex((part) => isObject(part) && objectIn(part, "functionCall") !== null);
    if (at < 0 || stepCallsBefore(contents, i)) continue;
    const call = parts[at];
    if (isObject(call) && textIn(call, "thoughtSignature") === null)
      signed = signed.with(i, { ...content, parts: parts.with(at, { ...call, thoughtSignature: NO_SIGNATURE }) });
  }
  return signed;
}

/** Whether the step that the content belongs to has a call in an earlier content. */
function stepCallsBefore(contents: readonly JsonValue[], at: number): boolean {
  for (let i = at - 1; i >= 0; i--) {
    const content = contents[i];
    if (!isObject(content) || content.role !== "model") return false;
    if (listIn(content, "parts").some((part) => isObject(part) && objectIn(part, "functionCall") !== null)) return true;
  }
  return false;
}
