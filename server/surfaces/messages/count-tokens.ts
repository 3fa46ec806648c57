import type { Dispatch } from "../../services/models/dispatch.ts";
import type { Surface } from "../../road/surface.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { InboundView } from "../../road/view.ts";
import { estimateInputTokens } from "../../wire/messages/estimate.ts";
import { requestedKnowledge } from "../llm/requested-knowledge.ts";
import { vendorHeaders } from "../llm/conversation.ts";
import { readInbound, vendorQuery } from "./messages.ts";
import { messagesRefusals } from "./refusals.ts";

/** POST /v1/messages/count_tokens: counted by the vendor if the model is the vendor's, otherwise estimated and marked as such. */
export const countTokens = (models: Dispatch): Surface => ({
  ...messagesRefusals,
  namesFiles: "messages",
  read(arriving, body) {
    const inbound = readInbound(arriving, body, { maxTokensRequired: false });
    if (isRefusal(inbound)) return inbound;
    const knowledge = requestedKnowledge(inbound);
    if (isRefusal(knowledge)) return knowledge;
    return {
      view: new InboundView(inbound, ["chat", "responses"]),
      async answer(call) {
        const answer = await models.countTokens(call, {
          inbound,
          operation: "count_tokens",
          headers: vendorHeaders(call, ["anthropic-version", "anthropic-beta"]),
          query: vendorQuery(call),
          estimate: () => ({ input_tokens: estimateInputTokens(inbound.body) }),
        });
        if (!isRefusal(answer)) answer.headers["request-id"] = call.id;
        return answer;
      },
    };
  },
});
