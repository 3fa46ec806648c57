import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply, StopReason } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { chatUsageMember } from "../openai/usage-member.ts";

/** Writes a complete answer. Refusals become plain text; reasoning is dropped, because the format cannot express it. */
export function writeCompletionsAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const body: JsonObject = {
    id: reply.id ?? `cmpl-${context.callId}`,
    object: "text_completion",
    created: context.created,
    model: context.model,
    choices: reply.candidates.map(({ index, parts, stop }) => {
      const text = parts.map((part) => (part.kind === "text" || part.kind === "refusal" ? part.text : "")).join("");
      return { text, index, logprobs: null, finish_reason: completionsFinish(stop) };
    }),
  };
  if (reply.usage !== null) body.usage = chatUsageMember(reply.usage);
  return body;
}

export function completionsFinish(stop: StopReason): string {
  if (stop === "length") return "length";
  return stop === "filtered" || stop === "refusal" ? "content_filter" : "stop";
}
