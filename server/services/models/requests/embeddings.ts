import type { ModelEntry } from "../../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { ProviderTraits } from "../../../upstreams/providers/traits.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import type { JsonValue } from "../../../kernel/json-value.ts";
import type { EmbeddingsCodec, EmbeddingsRead } from "../../../wire/embeddings/embeddings-codec.ts";
import { readEmbeddingsReply, writeEmbeddingsReply } from "../../../wire/embeddings/embeddings-reply.ts";
import type { EmbeddingsRequest } from "../../../wire/embeddings/embeddings-request.ts";
import { plausibleCount, estimateTokens, type Usage } from "../../../wire/usage.ts";
import { type AttemptParts, providerOf } from "../routing/attempt.ts";
import type { ModelRequest, PreparedRequest } from "./model-request.ts";
import { estimated } from "../../../road/metering/stream-usage.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { refusedByProvider } from "../routing/refused-by-provider.ts";

/** An embeddings request for any provider with such models. */
export function embeddingsModelRequest(request: EmbeddingsRequest, providers: AttemptParts["providers"]): ModelRequest {
  return {
    inputCharacters: request.inputCharacters,
    usageOfSending: () => estimated(request.inputCharacters, 0),
    prepare(_call, model) {
      const provider = providerOf(providers, model);
      if (isRefusal(provider)) return provider;
      const { embeddings } = provider.traits;
      if (embeddings === "passes") return passing(request, model);
      return embeddings === "refused" ? notEmbedded(model) : translating(request, model, embeddings);
    },
  };
}

function notEmbedded({ provider }: ModelEntry): Refusal {
  return refuse("unsupported_parameter", `Embeddings are not served for providers of the format ${provider.apiFormat}.`);
}

interface Question {
  readonly operation: ProviderOperation;
  readonly body: string;
}

/** The operation and body to embed these texts with the model. */
export function embeddingsBody(
  model: ModelEntry,
  { embeddings }: ProviderTraits,
  inputs: readonly string[],
  dimensions: number | null,
): Question | Refusal {
  if (embeddings === "refused") return notEmbedded(model);
  if (embeddings !== "passes") return translated(embeddings, model, inputs, dimensions);
  return {
    operation: "embeddings",
    body: JSON.stringify({ model: model.modelName, input: inputs, ...(dimensions === null ? {} : { dimensions }) }),
  };
}

function translated(
  codec: EmbeddingsCodec,
  { modelName }: ModelEntry,
  inputs: readonly string[],
  dimensions: number | null,
): Question | Refusal {
  const written = codec.write(modelName, inputs, dimensions);
  return "unsupported" in written
    ? refuse("unsupported_parameter", written.unsupported)
    : { operation: codec.operation, body: written.body };
}

function passing(request: EmbeddingsRequest, model: ModelEntry): PreparedRequest {
  return {
    ...WHOLE,
    operation: "embeddings",
    body: request.outbound({ model: model.modelName, defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null }),
    whole(bytes) {
      const read = readEmbeddingsReply(bytes);
      return read === null ? null : { body: bytes, ...read };
    },
    refusal: () => null,
  };
}

function translating(request: EmbeddingsRequest, model: ModelEntry, codec: EmbeddingsCodec): PreparedRequest | Refusal {
  const { inputs } = request;
  if (inputs === null)
    return refuse("unsupported_parameter", undefined, {
      fields: [{ field: "input", message: "must be texts: tokens of one vendor mean nothing to another" }],
    });
  const question = translated(codec, model, inputs, request.dimensions);
  if (isRefusal(question)) return question;
  return {
    ...WHOLE,
    ...question,
    whole(bytes) {
      const read = vectorsOf(codec, bytes);
      if (read === null || read.vectors.length !== inputs.length) return null;
      const usage = usageOfVectors(read, inputs.length, request.inputCharacters);
      const { inputUncached: tokens } = usage;
      return {
        body: new TextEncoder().encode(writeEmbeddingsReply(read.vectors, request.model ?? model.name, request.encoding, tokens)),
        usage,
        outputCharacters: 0,
      };
    },
    usageOfPart(answered) {
      const read = codec.read(answered);
      return read === null ? null : usageOfVectors(read, inputs.length, request.inputCharacters);
    },
    refusal: refusedByProvider,
  };
}

/**
 * Usage for these vectors. If the provider reports no tokens, they are estimated in proportion to the vectors returned. `texts`: how many
 * texts the request has; `characters`: their total length.
 */
export function usageOfVectors({ vectors, inputTokens }: EmbeddingsRead, texts: number, characters: number): Usage {
  const tokens = plausibleCount(inputTokens);
  return { ...estimated(0, 0), inputUncached: tokens ?? estimateTokens((characters * vectors.length) / texts), estimated: tokens === null };
}

const WHOLE = { stream: false, sent: NOTHING_SENT, headers: {}, streamCodec: () => null, streamType: null, dropped: [] } as const;

function vectorsOf(codec: EmbeddingsCodec, bytes: Uint8Array): EmbeddingsRead | null {
  try {
    return codec.read(JSON.parse(new TextDecoder().decode(bytes)) as JsonValue);
  } catch {
    return null;
  }
}
