import { invalidRequest } from "../../road/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { readResponsesCount } from "../../wire/responses/responses-count-request.ts";
import { estimateTokens } from "../../wire/usage.ts";
import { askedKnowledge } from "./asked-knowledge.ts";
import { vendorHeaders } from "./conversation.ts";
import { responsesRefusals } from "./refusals.ts";
import type { ResponseServices } from "./responses.ts";

/** What the vendor keeps is counted with the request, whoever it belongs to. */
const ELSEWHERE = ["previous_response_id", "conversation"] as const;

/** POST /responses/input_tokens: asked of the vendor where every model that may serve is OpenAI's own, else estimated, which it says. */
export const responsesInputTokens = ({ models, items }: Pick<ResponseServices, "models" | "items">): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  async read(call, body) {
    const inbound = readResponsesCount(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const kept = ELSEWHERE.filter((name) => inbound.body[name] != null);
    if (kept.length > 0)
      return invalidRequest(kept.map((field) => ({ field, message: "is not counted here: send what it stands for in `input`" })));
    if (inbound.namesItems) {
      const { problems } = inbound.putNamedItems(await items.find(call, inbound.namedItems));
      if (problems.length > 0) return invalidRequest(problems);
    }
    const knowledge = askedKnowledge(inbound);
    if (isRefusal(knowledge)) return knowledge;
    return {
      view: new InboundView(inbound, ["chat", "responses"]),
      answer: (called) =>
        models.countTokens(called, {
          inbound,
          operation: "responses_count",
          headers: vendorHeaders(called, ["openai-beta"]),
          estimate: () => ({ object: "response.input_tokens", input_tokens: Math.max(1, estimateTokens(inbound.inputCharacters)) }),
        }),
    };
  },
});
