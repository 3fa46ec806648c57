import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { EmbeddingsCodec } from "../embeddings/embeddings-codec.ts";
import { listIn, numberIn, objectIn, objectsIn } from "./members.ts";
import { qualifiedModel } from "./model-name.ts";

/** A `:batchEmbedContents` body; `model` is the provider's name for the model, `dimensions` is null if not set. */
export function writeGeminiEmbeddings(model: string, inputs: readonly string[], dimensions: number | null): JsonObject {
  const name = qualifiedModel(model);
  const size = dimensions === null ? {} : { outputDimensionality: dimensions };
  return { requests: inputs.map((text) => ({ model: name, content: { parts: [{ text }] }, ...size })) };
}

/** The vectors in the order of the inputs; null if the answer is invalid. Also accepts a single embedding's answer. */
export function readGeminiEmbeddings(reply: JsonObject): number[][] | null {
  const single = objectIn(reply, "embedding");
  const vectors = (single === null ? objectsIn(reply, "embeddings") : [single]).map((embedding) => listIn(embedding, "values"));
  const whole = vectors.length > 0 && vectors.every((vector) => vector.length > 0 && vector.every((value) => typeof value === "number"));
  return whole ? (vectors as number[][]) : null;
}

/** Converts a batch answer to that of a single request, keeping other members. */
export function singleEmbedding({ embeddings, ...others }: JsonObject): JsonObject {
  const [embedding] = Array.isArray(embeddings) ? embeddings : [];
  return embedding === undefined ? others : { embedding, ...others };
}

export const geminiEmbeddings: EmbeddingsCodec = {
  operation: "gemini_embed",
  write: (model, inputs, dimensions) => ({ body: JSON.stringify(writeGeminiEmbeddings(model, inputs, dimensions)) }),
  read(answer) {
    if (!isObject(answer)) return null;
    const vectors = readGeminiEmbeddings(answer);
    const usage = objectIn(answer, "usageMetadata") ?? {};
    return vectors === null ? null : { vectors, inputTokens: numberIn(usage, "promptTokenCount") };
  },
};
