import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { readResponsesInput } from "../../wire/responses/responses-input-request.ts";
import { estimateTokens } from "../../wire/usage.ts";
import { requestedKnowledge } from "./requested-knowledge.ts";
import { vendorHeaders } from "./conversation.ts";
import { responsesRefusals } from "./refusals.ts";
import type { ResponseServices } from "./response-services.ts";

/** State stored at the vendor would be counted with the request, whoever owns it. */
const ELSEWHERE = ["previous_response_id", "conversation"] as const;

/** POST /responses/input_tokens: counted by the vendor if every eligible model is OpenAI's own, otherwise estimated and marked as such. */
export const responsesInputTokens = ({ models, items }: Pick<ResponseServices, "models" | "items">): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  async read(call, body) {
    const inbound = readResponsesInput(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const kept = ELSEWHERE.filter((name) => inbound.body[name] != null);
    if (kept.length > 0)
      return invalidRequest(kept.map((field) => ({ field, message: "is not counted here: send what it stands for in `input`" })));
    if (inbound.namesItems) {
      const { problems } = inbound.putNamedItems(await items.find(call, inbound.namedItems));
      if (problems.length > 0) return invalidRequest(problems);
    }
    const knowledge = requestedKnowledge(inbound);
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
