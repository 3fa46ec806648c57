import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { choiceMember } from "./chat-choice.ts";
import { chatUsageMember } from "./usage-member.ts";

/**
 * A whole chat completion. Beside OpenAI's own members a message may carry `reasoning_content`, as most servers of this
 * format do, `images` as OpenRouter gives them, and a choice `stop_detail`: what the provider said about a refusal, a filter or a call it
 * could not form.
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
