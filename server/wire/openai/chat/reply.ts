import type { Usage } from "../../usage.ts";
import { chatOutputLength } from "./output.ts";
import { looseListOf, objectOf } from "../loose-fields.ts";
import { replyObject, tellsFailure } from "../reply-object.ts";
import { usageOfChat } from "../usage.ts";

/** Usage and output length of a complete chat completion; null if the bytes are not a JSON object, or report a failure. */
export function readChatReply(bytes: Uint8Array): { usage: Usage | null; outputCharacters: number } | null {
  const body = replyObject(bytes);
  if (body === null || tellsFailure(body, "choices")) return null;
  let outputCharacters = 0;
  for (const choice of looseListOf(body.choices)) outputCharacters += chatOutputLength(objectOf(choice)?.message);
  return { usage: usageOfChat(body), outputCharacters };
}
