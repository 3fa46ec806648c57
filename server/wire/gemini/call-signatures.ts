import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { listIn, objectIn, textIn } from "./members.ts";
import { generationOf } from "./model-name.ts";

/**
 * From this generation on, a call of the running exchange without a signature is refused. Calls that another model made,
 * or whose signature a client lost, carry this word instead, which Google documents for them.
 */
const REQUIRES_SIGNATURES = 3;
const NO_SIGNATURE = "skip_thought_signature_validator";

/**
 * Contents as the model takes them, the list itself where nothing is missing. Only the first call of each step carries a signature, and
 * only the steps since the user last spoke are checked.
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
    const call = parts[at];
    if (isObject(call) && textIn(call, "thoughtSignature") === null)
      signed = signed.with(i, { ...content, parts: parts.with(at, { ...call, thoughtSignature: NO_SIGNATURE }) });
  }
  return signed;
}
