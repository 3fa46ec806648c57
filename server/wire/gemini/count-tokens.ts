import { isObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { jsonMembersOf } from "../json/json-members.ts";
import { GeminiCountRequest } from "./count-request.ts";
import { type GeminiRequest } from "./gemini-request.ts";
import { spellingIn } from "./member-names.ts";
import { member } from "./members.ts";
import { geminiProblems } from "./request-check.ts";

const encoder = new TextEncoder();

/**
 * Reads a countTokens body: `{contents}`, or a whole request as `{generateContentRequest}`. Problems name fields in the
 * caller's spelling.
 */
export function readCountTokensRequest(bytes: Uint8Array, model: string): GeminiRequest | { fields: FieldProblem[] } {
  const outer = JsonDocument.read(bytes);
  if (!(outer instanceof JsonDocument)) return { fields: [outer] };
  const name = spellingIn(outer.value, "generateContentRequest");
  const whole = member(outer.value, "generateContentRequest");
  if (whole === undefined) {
    const fields = geminiProblems(outer.value);
    return fields.length > 0 ? { fields } : new GeminiCountRequest(outer, model, null);
  }
  if (!isObject(whole)) return { fields: [{ field: name, message: "must be an object" }] };
  if (member(outer.value, "contents") !== undefined) return { fields: [{ field: "contents", message: `may not stand beside ${name}` }] };
  const source = outer.text();
  const place = jsonMembersOf(source).find((each) => each.name === name);
  const inner = JsonDocument.read(encoder.encode(place === undefined ? "{}" : source.slice(place.valueStart, place.valueEnd)));
  const at = (field: string) => (field === "" ? name : `${name}.${field}`);
  if (!(inner instanceof JsonDocument)) return { fields: [{ field: at(inner.field), message: inner.message }] };
  const fields = geminiProblems(inner.value).map(({ field, message }) => ({ field: at(field), message }));
  return fields.length > 0 ? { fields } : new GeminiCountRequest(inner, model, { document: outer, name });
}
