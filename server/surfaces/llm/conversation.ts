import type { Dispatch } from "../../services/models/dispatch.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import type { Exchange } from "../../road/surface.ts";
import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { InboundView } from "../../road/view.ts";
import type { Call } from "../../road/call.ts";
import { requestedKnowledge } from "./requested-knowledge.ts";
import { awaitedConversation } from "./awaited.ts";

/** The exchange of a conversation, shared by all language model surfaces once they have read their own format. */
export function conversationExchange(
  models: Dispatch,
  conversation: Conversation,
  modes: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Exchange | Refusal {
  const { inbound } = conversation;
  const knowledge = requestedKnowledge(inbound);
  if (isRefusal(knowledge)) return knowledge;
  return {
    view: new InboundView(inbound, modes, knowledge),
    conversation,
    ...(inbound.stream && conversation.silent !== true && { awaited: awaitedConversation(conversation, headers) }),
    async answer(call) {
      const answer = await models.converse(call, conversation);
      if (isRefusal(answer)) return answer;
      Object.assign(answer.headers, headers);
      if (answer.status < 300) answer.headers["x-gw-ai-generated"] = "true";
      return answer;
    },
  };
}

type VendorHeader = "anthropic-version" | "anthropic-beta" | "openai-beta" | "idempotency-key";

/** The named vendor headers of a request, to be passed to providers of the same format. */
export function vendorHeaders({ headers: sent }: Pick<Call, "headers">, names: readonly VendorHeader[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = sent.get(name);
    if (value !== null && value.length <= 2000) headers[name] = value;
  }
  return headers;
}
