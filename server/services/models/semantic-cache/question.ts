import type { ConversationFormat } from "../../../wire/conversation/codec.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../wire/document.ts";

/** A request's last words, and everything around them with their place marked. */
export interface Question {
  readonly question: string;
  readonly rest: JsonValue;
}

/** Where each format holds the conversation. */
const CONTAINER: Readonly<Record<ConversationFormat, string>> = {
  chat: "messages",
  messages: "messages",
  responses: "input",
  completions: "prompt",
  gemini: "contents",
  converse: "messages",
};

const HOLDERS = ["content", "parts", "text"] as const;
const LONGEST = 8_000;

/** Null where the request does not end in a text of its user, or in one too long to be compared. */
export function questionOf(format: ConversationFormat, body: JsonObject): Question | null {
  const name = CONTAINER[format];
  const split = last(body[name]);
  if (split === null || split.question.trim() === "" || split.question.length > LONGEST) return null;
  return { question: split.question, rest: { ...body, [name]: split.rest } };
}

function last(value: JsonValue | undefined): Question | null {
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
