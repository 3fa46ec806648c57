import type { ReplyContext } from "../../conversation/codec.ts";
import type { ConversationReply } from "../../conversation/reply.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { choiceMember } from "./choice.ts";
import { chatUsageMember } from "../usage-member.ts";

/**
 * Writes a complete chat completion. In addition to OpenAI's members, a message may have `reasoning_content`, as on most
 * compatible servers, and `images` as on OpenRouter, and a choice may have `stop_detail`: the provider's details of a
 * refusal, a filter or a malformed call.
 */
export function writeChatAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const body: JsonObject = {
    id: reply.id ?? `chatcmpl-${context.callId}`,
    object: "chat.completion",
    created: context.created,
    model: context.model,
    choices: reply.candidates.map(choiceMember),
  };
  if (reply.usage !== null) body.usage = chatUsageMember(reply.usage);
  return body;
}
