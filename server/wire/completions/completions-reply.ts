import { looseListOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { replyObject, tellsFailure } from "../openai/reply-object.ts";
import { readChatUsage } from "../openai/usage.ts";
import type { Usage } from "../usage.ts";

/** What governance reads of a whole completion; null when the bytes are no JSON object, or tell of a failure. */
export function readCompletionsReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  const body = replyObject(bytes);
  if (body === null || tellsFailure(body, "choices")) return null;
  let outputCharacters = 0;
  for (const choice of looseListOf(body.choices)) outputCharacters += stringOf(objectOf(choice)?.text)?.length ?? 0;
  return { usage: readChatUsage(body.usage), outputCharacters };
}
