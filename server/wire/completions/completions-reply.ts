import { looseListOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { replyObject, tellsFailure } from "../openai/reply-object.ts";
import { readChatUsage } from "../openai/usage.ts";
import { servedByOpenAi } from "../serving.ts";
import type { Usage } from "../usage.ts";

/**
 * Usage and output length of a completion. `echoed` is the number of prompt characters repeated in each choice. Null if
 * the bytes are not a JSON object, or report a failure.
 */
export function readCompletionsReply(bytes: Uint8Array, echoed = 0): { usage: Usage | null; outputCharacters: number } | null {
  const body = replyObject(bytes);
  if (body === null || tellsFailure(body, "choices")) return null;
  let outputCharacters = 0;
  for (const choice of looseListOf(body.choices)) outputCharacters += Math.max(0, (stringOf(objectOf(choice)?.text)?.length ?? 0) - echoed);
  return { usage: servedByOpenAi(readChatUsage(body.usage), body.service_tier), outputCharacters };
}
