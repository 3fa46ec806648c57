import { type Refusal, isRefusal, refuse } from "../../../kernel/errors.ts";
import { estimated } from "../../../road/metering/stream-usage.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";
import type { EmbeddingsRead } from "../../../wire/embeddings/embeddings-codec.ts";
import { readVectors } from "../../../wire/embeddings/embeddings-reply.ts";
import { singleEmbedding } from "../../../wire/gemini/embeddings.ts";
import { retryAfterIn } from "../../../wire/conversation/reply.ts";
import { writeGeminiFault } from "../../../wire/gemini/fault.ts";
import type { GeminiEmbeddingsRequest } from "../../../wire/gemini/embed-request.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import { embeddingsBody, usageOfVectors } from "./embeddings.ts";
import type { ModelRequest, WholeAnswerReading } from "./model-request.ts";

const encoder = new TextEncoder();

/** An embeddings request in Google's format, for any provider with such models. */
export function geminiEmbeddingsModelRequest(request: GeminiEmbeddingsRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    usageOfSending: () => estimated(request.inputCharacters, 0),
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const { embeddings } = provider.traits;
      const codec = typeof embeddings === "string" ? null : embeddings;
      const usageOfPart = (answered: JsonValue) => {
        const read = codec?.read(answered) ?? null;
        return read === null ? null : usageOfVectors(read, request.prompts, request.inputCharacters);
      };
      if (codec?.operation === "gemini_embed")
        return {
          ...WHOLE,
          operation: codec.operation,
          body: request.outbound({ model: model.modelName, defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null }),
          whole: (bytes) => passed(request, bytes, codec.read.bind(codec)),
          usageOfPart,
          refusal: () => null,
          dropped: [],
        };
      const { inputs } = request;
      if (inputs === null) return notTexts(request);
      const question = embeddingsBody(model, provider.traits, inputs, request.dimensions);
      if (isRefusal(question)) return question;
      return {
        ...WHOLE,
        ...question,
        whole: (bytes) => usageOfEmbeddings(request, bytes, codec === null ? readVectors : codec.read.bind(codec)),
        usageOfPart,
        refusal: (status, _bytes, answered) => refusalOf(status, answered),
        dropped: request.particular,
      };
    },
  };
}

const WHOLE = { stream: false, sent: NOTHING_SENT, headers: {}, streamCodec: () => null, streamType: null } as const;

function notTexts({ single }: GeminiEmbeddingsRequest): Refusal {
  return refuse("unsupported_parameter", undefined, {
    fields: [{ field: single ? "content.parts" : "requests[].content.parts", message: "must be texts for this model's provider" }],
  });
}

function usageOfEmbeddings(
  request: GeminiEmbeddingsRequest,
  bytes: Uint8Array,
  readAs: (answer: JsonValue) => EmbeddingsRead | null,
): WholeAnswerReading | null {
  const read = readBy(bytes, readAs);
  if (read === null || read.vectors.length !== request.prompts) return null;
  const usage = usageOfVectors(read, request.prompts, request.inputCharacters);
  const vectors = read.vectors.map((values) => ({ values }));
  const body = request.single ? { embedding: vectors[0] } : { embeddings: vectors };
  return { body: encoder.encode(JSON.stringify(body)), usage, outputCharacters: 0 };
}

/**
 * Google's answer passes as it is, because it contains more than vectors. The batch operation is always used, so a single embedding is
 * unwrapped.
 */
function passed(
  request: GeminiEmbeddingsRequest,
  bytes: Uint8Array,
  readAs: (answer: JsonValue) => EmbeddingsRead | null,
): WholeAnswerReading | null {
  const read = usageOfEmbeddings(request, bytes, readAs);
  if (read === null || !request.single) return read === null ? null : { ...read, body: bytes };
  return { ...read, body: encoder.encode(JSON.stringify(singleEmbedding(JSON.parse(new TextDecoder().decode(bytes)) as JsonObject))) };
}

function refusalOf(status: number, headers: Headers): Uint8Array {
  const message = `The model's provider refused the request (HTTP ${status}).`;
  return encoder.encode(JSON.stringify(writeGeminiFault({ status, message, code: null, param: null, ...retryAfterIn(headers) })));
}

function readBy(bytes: Uint8Array, readAs: (answer: JsonValue) => EmbeddingsRead | null): EmbeddingsRead | null {
  try {
    return readAs(JSON.parse(new TextDecoder().decode(bytes)) as JsonValue);
  } catch {
    return null;
  }
}
