import { isObject } from "../../kernel/json-value.ts";
import type { RankedDocument, RerankCodec } from "../rerank/rerank-codec.ts";

/** Cohere's and Amazon's reranking models, called with InvokeModel. The body is the same, except that Cohere requires an API version. */
export const bedrockReranking: RerankCodec = {
  operation: "bedrock_rerank",
  write(model, query, documents, topN) {
    if (!model.includes("rerank")) return { unsupported: `${model} is no model that orders documents.` };
    const version = model.includes("cohere.") ? { api_version: 2 } : {};
    return { body: JSON.stringify({ query, documents, top_n: topN ?? documents.length, ...version }) };
  },
  read(answer) {
    if (!Array.isArray(answer.results)) return null;
    const ranked: RankedDocument[] = [];
    for (const one of answer.results) {
      if (!isObject(one) || typeof one.index !== "number" || typeof one.relevance_score !== "number") return null;
      ranked.push({ index: one.index, score: one.relevance_score });
    }
    return ranked;
  },
};
