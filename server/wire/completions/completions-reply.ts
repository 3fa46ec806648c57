import { listOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { replyObject } from "../openai/reply-object.ts";
import { usageOf } from "../openai/usage.ts";
import type { Usage } from "../usage.ts";

/** What governance reads of a whole completion; null when the bytes are not a JSON object. */
export function readCompletionsReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  const body = replyObject(bytes);
  if (body === null) return null;
  let outputCharacters = 0;
  for (const choice of listOf(body.choices)) outputCharacters += stringOf(objectOf(choice)?.text)?.length ?? 0;
  return { usage: usageOf(body.usage), outputCharacters };
}
