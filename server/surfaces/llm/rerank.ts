import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { readRerankRequest } from "../../wire/rerank/rerank-request.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /rerank, in the shape Cohere, Jina and Voyage share. */
const rerank = (models: Dispatch): Surface => ({
  ...llmRefusals,
  read(_call, body) {
    const inbound = readRerankRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return { view: new InboundView(inbound, ["rerank"]), answer: (call) => models.rerank(call, inbound) };
  },
});

/** Clients of Cohere and Jina prefix the path with an API version. */
export const RERANK_ROUTES = ["", "/v1", "/v2"].map(
  (version) =>
    ({
      method: "POST",
      path: `/v1/proxy/llm${version}/rerank`,
      surface: ({ models }: { readonly models: Dispatch }) => rerank(models),
      audit: { proxyType: "llm", proxySubtype: "rerank" },
      body: true,
    }) as const,
);
