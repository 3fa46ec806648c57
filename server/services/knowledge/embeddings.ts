import type { ModelEntry } from "../../directory/snapshot.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { MakeNestedCall } from "../../road/own-calls/nested-call.ts";
import { EmbeddingsRequest, readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { vectorsIn } from "./vectors-of-answer.ts";

export interface EmbeddingTerms {
  readonly timeoutMs: number;
  /** Whether `parent` is a caller's call, which has an audit row and waits for the embedding. */
  readonly ofCaller: boolean;
}

/** Embeds texts, each batch as a nested call with its own audit row. Returns a refusal if no vectors can be had. */
export type EmbedTexts = (
  parent: Call,
  model: ModelEntry,
  texts: readonly string[],
  terms: EmbeddingTerms,
) => Promise<Float32Array[] | Refusal>;

/** Sends an embeddings request to the model to which the call has been routed. */
export type SendTexts = (call: Call, request: EmbeddingsRequest) => Promise<Answer | Refusal>;

const encoder = new TextEncoder();

export function embedsBy(nest: MakeNestedCall, send: SendTexts): EmbedTexts {
  return async (parent, model, texts, { timeoutMs, ofCaller }) => {
    const body = encoder.encode(JSON.stringify({ model: model.name, input: texts, encoding_format: "float" }));
    const request = readEmbeddingsRequest(body);
    if (!(request instanceof EmbeddingsRequest)) return refuse("upstream_invalid_response");
    const answer = await nest(parent, {
      audit: { proxyType: "llm", proxySubtype: "knowledge_embedding" },
      path: "/v1/proxy/llm/embeddings",
      model,
      body,
      outputTokens: 0,
      timeoutMs,
      waitMs: timeoutMs,
      endsWithParent: ofCaller,
      send(nested) {
        // The gateway's own background work has no parent call with an audit row.
        if (!ofCaller) nested.row.parent_request_id = null;
        return send(nested, request);
      },
    });
    if (isRefusal(answer)) return answer;
    if (answer.failure !== null) return refuse("upstream_error", `The embedding model answered with status ${answer.status}.`);
    return (
      vectorsIn(answer.body, texts.length) ??
      refuse("upstream_invalid_response", "The embedding model answered with other vectors than were asked for.")
    );
  };
}
