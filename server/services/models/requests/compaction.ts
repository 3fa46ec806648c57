import { isRefusal, refuse } from "../../../kernel/errors.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Call } from "../../../road/call.ts";
import type { Conversation } from "../../../road/request/conversation.ts";
import { providerOf } from "../routing/attempt.ts";
import { conversationModelRequest, type ConversationParts } from "./conversation.ts";
import type { ModelRequest } from "./model-request.ts";

/** A request to compact a conversation. Only its vendor can read the result, so only models asked in the caller's format can serve it. */
export async function compactionModelRequest(call: Call, conversation: Conversation, parts: ConversationParts): Promise<ModelRequest> {
  const request = await conversationModelRequest(call, conversation, parts);
  const compacts = (model: ModelEntry) => {
    const provider = providerOf(parts.providers, model);
    return isRefusal(provider) || provider.traits.codecFor(model, conversation.caller.format).format === conversation.caller.format;
  };
  return {
    ...request,
    mayBeServedBy: (model) => compacts(model) && request.mayBeServedBy?.(model) !== false,
    prepare: (asked, model) =>
      compacts(model)
        ? request.prepare(asked, model)
        : refuse(
            "unsupported_parameter",
            "Conversations are compacted by models that are asked in OpenAI's Responses format, which this one is not: go on sending the whole.",
          ),
  };
}
