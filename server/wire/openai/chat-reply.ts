import type { Usage } from "../usage.ts";
import { usageOf } from "./usage.ts";

/** What governance reads of a whole chat completion; null when the bytes are not a JSON object. */
export function readChatReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const { usage, choices } = body as { usage?: unknown; choices?: unknown };
  let outputCharacters = 0;
  if (Array.isArray(choices)) {
    for (const choice of choices as { message?: { content?: unknown } }[]) {
      if (typeof choice?.message?.content === "string") outputCharacters += choice.message.content.length;
    }
  }
  return { usage: usageOf(usage), outputCharacters };
}
