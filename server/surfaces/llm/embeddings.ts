import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /embeddings, OpenAI's own shape (interface 4.2). */
export const embeddings = (models: Dispatch): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readEmbeddingsRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return { view: new InboundView(inbound, ["embedding"]), answer: (call) => models.embed(call, inbound) };
  },
});
