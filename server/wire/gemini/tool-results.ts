import type { TextPart, ToolResultPart } from "../conversation/conversation-parts.ts";
import { type JsonObject, objectInJson } from "../../kernel/json-value.ts";

/** Numbers this long lose digits when parsed. */
const LONG_NUMBER = /\d{16}/;

/** Reads the `response` of a function result: `output` for a text, `error` for a failure, otherwise the object itself as JSON. */
export function readResponse(response: JsonObject): { text: string; isError: boolean } {
  const [[name, value] = ["", null], ...others] = Object.entries(response);
  const alone = others.length === 0;
  if (alone && name === "error") return { text: typeof value === "string" ? value : JSON.stringify(value), isError: true };
  if (alone && (name === "output" || name === "result") && typeof value === "string") return { text: value, isError: false };
  return { text: JSON.stringify(response), isError: false };
}

export function writeResponse(result: ToolResultPart): JsonObject {
  const text = result.content
    .filter((part): part is TextPart => part.kind === "text")
    .map((part) => part.text)
    .join("\n");
  if (result.isError) return { error: text };
  const object = objectOf(text);
  // Wrapped if the object itself would be taken for a text or a failure.
  return object === null || readResponse(object).text !== JSON.stringify(object) ? { output: text } : object;
}

function objectOf(text: string): JsonObject | null {
  if (!text.trimStart().startsWith("{") || LONG_NUMBER.test(text)) return null;
  return objectInJson(text);
}
