import type { ModelEntry } from "../../../directory/snapshot.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import { estimated } from "../../../road/metering/stream-usage.ts";
import { isObject, type JsonValue } from "../../../kernel/json-value.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import type { RerankCodec } from "../../../wire/rerank/rerank-codec.ts";
import { type RankedAnswer, readRankedAnswer } from "../../../wire/rerank/rerank-reply.ts";
import type { RerankRequest } from "../../../wire/rerank/rerank-request.ts";
import { estimateTokens, type Usage } from "../../../wire/usage.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import type { ModelRequest, PreparedRequest } from "./model-request.ts";
import { passedWhole, sentWhole } from "./passed-whole.ts";
import { refusedByProvider } from "../routing/refused-by-provider.ts";

/** A rerank request: billed by search units if the model has a price for them, else by input tokens. */
export function rerankModelRequest(request: RerankRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    usageOfSending: () => usageOf(request, { inputTokens: null, searchUnits: null }),
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const { reranking } = provider.traits;
      if (reranking !== undefined) return translated(request, model, reranking);
      return passedWhole(provider, model, "rerank", request.outbound({ model: model.modelName }), (bytes) => {
        const read = readRankedAnswer(bytes);
        return read === null ? null : { body: bytes, usage: usageOf(request, read), outputCharacters: 0 };
      });
    },
  };
}

/** What the provider does not report is counted here: tokens as for limits, search units as the most possible. */
function usageOf(request: RerankRequest, { inputTokens, searchUnits }: RankedAnswer): Usage {
  return {
    ...estimated(0, 0),
    inputUncached: inputTokens ?? estimateTokens(request.inputCharacters),
    searchUnits: searchUnits ?? request.reranking.searchUnits,
    estimated: inputTokens === null,
  };
}

function translated(request: RerankRequest, { modelName }: ModelEntry, codec: RerankCodec): PreparedRequest | Refusal {
  const [query, ...documents] = [request.query, ...request.documents].map(textOf);
  if (query == null || documents.some((text) => text === null))
    return refuse("unsupported_parameter", undefined, {
      fields: [{ field: query == null ? "query" : "documents", message: "must be texts, or objects with a `text`, for this model" }],
    });
  const written = codec.write(modelName, query, documents as string[], request.topN);
  if ("unsupported" in written) return refuse("unsupported_parameter", written.unsupported);
  const whole = (bytes: Uint8Array) => {
    const answer = replyObject(bytes);
    const ranked = answer === null ? null : codec.read(answer);
    if (ranked === null || ranked.some(({ index }) => documents[index] === undefined)) return null;
    const results = ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(request.returnsDocuments ? { document: { text: documents[index] } } : {}),
    }));
    const body = new TextEncoder().encode(JSON.stringify({ results }));
    return { body, usage: usageOf(request, { inputTokens: null, searchUnits: null }), outputCharacters: 0 };
  };
  return { ...sentWhole(codec.operation, written.body, whole), refusal: refusedByProvider };
}

function textOf(passage: JsonValue): string | null {
  const text = isObject(passage) ? passage.text : passage;
  return typeof text === "string" ? text : null;
}
