import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import type { Operation } from "../../wire/operation.ts";
import { readBedrockEmbeddings, writeBedrockEmbeddings } from "../../wire/converse/embeddings.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { readEmbeddingsReply, writeEmbeddingsReply } from "../../wire/embeddings/embeddings-reply.ts";
import type { EmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readGeminiEmbeddings, writeGeminiEmbeddings } from "../../wire/gemini/embeddings.ts";
import { estimateTokens } from "../../wire/usage.ts";
import type { Errand, Prepared } from "./errand.ts";
import { estimated } from "../../road/metering/stream-usage.ts";

/** Texts turned into vectors by a model of any provider that has such models. */
export function embeddingsErrand(request: EmbeddingsRequest): Errand {
  return {
    inputCharacters: request.inputCharacters,
    prepare(_call, model) {
      switch (embeddingsWay(model.provider)) {
        case "passes":
          return passing(request, model);
        case "translated":
          return translating(request, model);
        case "refused":
          return refuse("unsupported_parameter", `Embeddings are not served for providers of the format ${model.provider.apiFormat}.`);
      }
    },
  };
}

/** How a provider's models come to embed what OpenAI's clients ask for. */
export function embeddingsWay({ apiFormat }: Pick<ModelEntry["provider"], "apiFormat">): "passes" | "translated" | "refused" {
  switch (apiFormat) {
    case "openai":
    case "azure_openai":
    case "echo":
      return "passes";
    case "gemini":
    case "vertex":
    case "bedrock":
      return "translated";
    default:
      return "refused";
  }
}

/** What a model of any provider that has such models is sent for these texts. */
export function embeddingsQuestion(
  model: ModelEntry,
  inputs: readonly string[],
  dimensions: number | null,
): { readonly operation: Operation; readonly body: string } | Refusal {
  if (isGoogle(model))
    return { operation: "gemini_embed", body: JSON.stringify(writeGeminiEmbeddings(model.modelName, inputs, dimensions)) };
  if (model.provider.apiFormat === "bedrock") {
    const written = writeBedrockEmbeddings(model.modelName, inputs, dimensions);
    return "unsupported" in written
      ? refuse("unsupported_parameter", written.unsupported)
      : { operation: "bedrock_embed", body: JSON.stringify(written.bodies) };
  }
  return {
    operation: "embeddings",
    body: JSON.stringify({ model: model.modelName, input: inputs, ...(dimensions === null ? {} : { dimensions }) }),
  };
}

function passing(request: EmbeddingsRequest, model: ModelEntry): Prepared {
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

function translating(request: EmbeddingsRequest, model: ModelEntry): Prepared | Refusal {
  const { inputs } = request;
  if (inputs === null)
    return refuse("unsupported_parameter", undefined, {
      fields: [{ field: "input", message: "must be texts: tokens of one vendor mean nothing to another" }],
    });
  const question = embeddingsQuestion(model, inputs, request.dimensions);
  if (isRefusal(question)) return question;
  return {
    ...WHOLE,
    ...question,
    whole(bytes) {
      const read = vectorsOf(model, bytes);
      if (read === null || read.vectors.length !== inputs.length) return null;
      const tokens = read.inputTokens ?? estimateTokens(request.inputCharacters);
      const usage = { ...estimated(0, 0), inputUncached: tokens, estimated: read.inputTokens === null };
      return {
        body: new TextEncoder().encode(writeEmbeddingsReply(read.vectors, request.model ?? model.name, request.encoding, tokens)),
        usage,
        outputCharacters: 0,
      };
    },
    refusal: (status) =>
      new TextEncoder().encode(
        JSON.stringify({
          error: {
            message: `The model's provider refused the request (HTTP ${status}).`,
            type: "invalid_request_error",
            param: null,
            code: null,
          },
        }),
      ),
  };
}

const WHOLE = { stream: false, headers: {}, streamCodec: () => null, streamType: null, dropped: [] } as const;

function isGoogle({ provider }: ModelEntry): boolean {
  return provider.apiFormat === "gemini" || provider.apiFormat === "vertex";
}

interface Vectors {
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number | null;
}

function vectorsOf(model: ModelEntry, bytes: Uint8Array): Vectors | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
  if (isGoogle(model)) {
    const vectors = isObject(body) ? readGeminiEmbeddings(body) : null;
    return vectors === null ? null : { vectors, inputTokens: null };
  }
  if (!Array.isArray(body)) return null;
  const answers = body.map((answer) => (isObject(answer) ? readBedrockEmbeddings(answer as JsonObject) : null));
  if (answers.some((answer) => answer === null)) return null;
  const read = answers.filter((answer) => answer !== null);
  const counted = read.every(({ inputTokens }) => inputTokens !== null);
  return {
    vectors: read.flatMap(({ vectors }) => vectors),
    inputTokens: counted ? read.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0) : null,
  };
}
