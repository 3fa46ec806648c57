import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { readChatUsage } from "../openai/usage.ts";
import type { Usage } from "../usage.ts";
import type { EmbeddingsRead } from "./embeddings-codec.ts";

/** Usage of an embeddings answer; null if the bytes are not one. */
export function readEmbeddingsReply(bytes: Uint8Array): { readonly usage: Usage | null; readonly outputCharacters: number } | null {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  return isObject(body) && Array.isArray(body.data) ? { usage: readChatUsage(body.usage), outputCharacters: 0 } : null;
}

/** An embeddings answer in OpenAI's format. */
export function writeEmbeddingsReply(
  vectors: readonly (readonly number[])[],
  model: string,
  encoding: "float" | "base64",
  tokens: number,
): string {
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: encoding === "float" ? vector : base64Of(vector),
  }));
  return JSON.stringify({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

/** Little-endian 32-bit floats, as OpenAI's clients decode them. */
function base64Of(vector: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [i, value] of vector.entries()) bytes.setFloat32(i * 4, value, true);
  return Buffer.from(bytes.buffer).toString("base64");
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** The vectors of an answer in OpenAI's format, in the order of the texts; null if it is invalid. */
export function readVectors(answer: JsonValue): EmbeddingsRead | null {
  if (!isObject(answer) || !Array.isArray(answer.data)) return null;
  const { data, usage } = answer;
  const vectors: number[][] = [];
  for (const [i, item] of data.entries()) {
    if (!isObject(item) || !Array.isArray(item.embedding) || !item.embedding.every(isNumber)) return null;
    vectors[isNumber(item.index) ? item.index : i] = item.embedding;
  }
  const whole = Object.keys(vectors).length === data.length && vectors.length === data.length;
  const tokens = isObject(usage) ? usage.prompt_tokens : null;
  return whole ? { vectors, inputTokens: typeof tokens === "number" ? tokens : null } : null;
}
