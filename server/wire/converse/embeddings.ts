import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { EmbeddingsCodec, EmbeddingsRead } from "../embeddings/embeddings-codec.ts";
import { readBedrockEmbeddings } from "./read-embeddings.ts";

/** InvokeModel bodies of Bedrock's embedding models, which differ by maker. */
type BodiesWritten =
  /** One call per body, with vectors in the same order. Their JSON array is the body of operation `bedrock_embed`. */
  { readonly bodies: readonly JsonObject[] } | { readonly unsupported: string };

/** The maximum number of texts per call for Cohere. */
const COHERE_TEXTS = 96;

/** `dimensions` is null for the model's default. */
export function writeBedrockEmbeddings(model: string, inputs: readonly string[], dimensions: number | null): BodiesWritten {
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

/** Body and answer are arrays with one item for each InvokeModel call. */
export const bedrockEmbeddings: EmbeddingsCodec = {
  operation: "bedrock_embed",
  write(model, inputs, dimensions) {
    const written = writeBedrockEmbeddings(model, inputs, dimensions);
    return "unsupported" in written ? written : { body: JSON.stringify(written.bodies) };
  },
  read(answer) {
    if (!Array.isArray(answer)) return null;
    const read: EmbeddingsRead[] = [];
    for (const one of answer) {
      const vectors = isObject(one) ? readBedrockEmbeddings(one) : null;
      if (vectors === null) return null;
      read.push(vectors);
    }
    const counted = read.every(({ inputTokens }) => inputTokens !== null);
    return {
      vectors: read.flatMap(({ vectors }) => vectors),
      inputTokens: counted ? read.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0) : null,
    };
  },
};
