import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** The last user message of a request, and the rest of the request with its place marked. */
export interface CacheQuestion {
  readonly question: string;
  readonly rest: JsonValue;
}

const HOLDERS = ["content", "parts", "text"] as const;

/** `member` holds the conversation in this format. Null if the conversation does not end with a user's text. */
export function questionIn(body: JsonObject, member: string): CacheQuestion | null {
  const split = last(body[member]);
  return split === null ? null : { question: split.question, rest: { ...body, [member]: split.rest } };
}

function last(value: JsonValue | undefined): CacheQuestion | null {
  if (typeof value === "string") return { question: value, rest: null };
  if (Array.isArray(value)) {
    const split = last(value.at(-1));
    return split === null ? null : { question: split.question, rest: [...value.slice(0, -1), split.rest] };
  }
  if (!isObject(value) || (value.role !== undefined && value.role !== "user")) return null;
  if (typeof value.type === "string" && !["message", "text", "input_text"].includes(value.type)) return null;
  for (const holder of HOLDERS) {
    if (value[holder] === undefined) continue;
    const split = last(value[holder]);
    return split === null ? null : { question: split.question, rest: { ...value, [holder]: split.rest } };
  }
  return null;
}
