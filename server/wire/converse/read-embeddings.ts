import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { EmbeddingsRead } from "../embeddings/embeddings-codec.ts";

/** Reads the answer to one of `bodies`; null if it is not one. Titan returns one vector, Cohere a list or one list for each number type. */
export function readBedrockEmbeddings(answer: JsonObject): EmbeddingsRead | null {
  const { embedding, embeddings, inputTextTokenCount } = answer;
  const inputTokens = typeof inputTextTokenCount === "number" ? inputTextTokenCount : null;
  if (isVector(embedding)) return { vectors: [embedding], inputTokens };
  const all = isObject(embeddings) ? embeddings.float : embeddings;
  return Array.isArray(all) && all.every(isVector) ? { vectors: all, inputTokens } : null;
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === "number");
}
