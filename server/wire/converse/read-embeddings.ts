import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { EmbeddingsRead } from "../embeddings/embeddings-codec.ts";

/** The answer to one of `bodies`; null when it is none. Titan gives one vector, Cohere a list, or one for each kind of number. */
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
