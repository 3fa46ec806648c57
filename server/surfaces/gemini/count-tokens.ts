import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { InboundView } from "../../road/view.ts";
import { estimateTokens } from "../../wire/usage.ts";
import { readCountTokensRequest } from "../../wire/gemini/count-tokens.ts";
import { modelOfPath } from "./model-path.ts";
import { requestedKnowledge } from "../llm/requested-knowledge.ts";
import { geminiRefusals } from "./refusals.ts";

/** POST /v1beta/models/{model}:countTokens: counted by the vendor if the model is the vendor's, otherwise estimated. */
export const geminiCountTokens = (models: Dispatch): Surface => ({
  ...geminiRefusals,
  namesFiles: "gemini",
  read({ path }, body) {
    const inbound = readCountTokensRequest(body ?? new Uint8Array(0), modelOfPath(path));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const knowledge = requestedKnowledge(inbound);
    if (isRefusal(knowledge)) return knowledge;
    return {
      view: new InboundView(inbound, ["chat", "responses"]),
      answer: (call) =>
        models.countTokens(call, {
          inbound,
          operation: "gemini_count",
          headers: {},
          estimate: () => ({ totalTokens: estimateTokens(inbound.inputCharacters) }),
        }),
    };
  },
});
