import { isObject, type JsonObject } from "../document.ts";

/** What embedding models of Bedrock are sent by InvokeModel, in each maker's own shape. */
export type EmbeddingsWritten =
  /** One call for each, their vectors in the same order. The list, as JSON, is the body of operation `bedrock_embed`. */
  { readonly bodies: readonly JsonObject[] } | { readonly unsupported: string };

/** The most texts Cohere takes at once. */
const COHERE_TEXTS = 96;

/** `dimensions` null: as many as the model gives by itself. */
export function writeBedrockEmbeddings(model: string, inputs: readonly string[], dimensions: number | null): EmbeddingsWritten {
  if (model.includes("titan-embed")) {
    const sized = !model.includes("titan-embed-text-v1");
    if (dimensions !== null && !sized) return { unsupported: `${model} gives vectors of one length only.` };
    return { bodies: inputs.map((inputText) => ({ inputText, ...(dimensions === null ? {} : { dimensions }) })) };
  }
  if (model.includes("cohere.embed")) {
    const sized = !/cohere\.embed-(?:english|multilingual)-v3/.test(model);
    if (dimensions !== null && !sized) return { unsupported: `${model} gives vectors of one length only.` };
    const bodies: JsonObject[] = [];
    for (let at = 0; at < inputs.length; at += COHERE_TEXTS) {
      bodies.push({
        texts: inputs.slice(at, at + COHERE_TEXTS),
        input_type: "search_document",
        embedding_types: ["float"],
        ...(dimensions === null ? {} : { output_dimension: dimensions }),
      });
    }
    return { bodies };
  }
  return { unsupported: `Embeddings on Amazon Bedrock are served for Titan and Cohere models, and ${model} is neither.` };
}

export interface EmbeddingsRead {
  readonly vectors: readonly (readonly number[])[];
  /** Null where the answer does not say. */
  readonly inputTokens: number | null;
}

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
