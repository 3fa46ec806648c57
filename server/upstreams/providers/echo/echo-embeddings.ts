import { createHash } from "node:crypto";
import { writeEmbeddingsReply } from "../../../wire/embeddings/embeddings-reply.ts";
import { estimateTokens } from "../../../wire/usage.ts";
import type { ProviderReply } from "../provider.ts";

const DIMENSIONS = 64;
const MAX_DIMENSIONS = 4096;
const BLOCK = 16;

interface EmbeddingsBody {
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly dimensions?: number;
  readonly encoding_format?: string;
}

/**
 * Answers an embeddings request with vectors computed from the words alone: equal texts get equal vectors, texts that share words get
 * similar ones.
 */
export function echoEmbeddings(model: string, text: string, id: string): ProviderReply {
  const body = JSON.parse(text) as EmbeddingsBody;
  const inputs = inputsOf(body.input);
  const dimensions = body.dimensions ?? DIMENSIONS;
  if (dimensions > MAX_DIMENSIONS) {
    const error = {
      message: `echo gives vectors of at most ${MAX_DIMENSIONS} numbers`,
      type: "invalid_request_error",
      param: "dimensions",
      code: null,
    };
    return { response: Response.json({ error }, { status: 400 }), requestId: `embd-echo-${id}` };
  }
  const tokens = inputs.reduce((sum, words) => sum + estimateTokens(words.join(" ").length), 0);
  const encoding = body.encoding_format === "base64" ? "base64" : "float";
  const reply = writeEmbeddingsReply(
    inputs.map((words) => vectorOf(words, dimensions)),
    model,
    encoding,
    tokens,
  );
  return { response: new Response(reply, { headers: { "content-type": "application/json" } }), requestId: `embd-echo-${id}` };
}

/** The words of each text; token numbers count as words if the caller sent tokens. */
function inputsOf(input: EmbeddingsBody["input"]): string[][] {
  if (typeof input === "string") return [wordsOf(input)];
  if (input.every((item) => typeof item === "number")) return [input.map(String)];
  return input.map((item) => (typeof item === "string" ? wordsOf(item) : Array.isArray(item) ? item.map(String) : []));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The sum of the words' vectors, normalised to length 1. */
function vectorOf(words: readonly string[], dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  // A text without words gets a non-zero vector too.
  for (const word of words.length === 0 ? [""] : words) {
    for (let at = 0; at < dimensions; at += BLOCK) {
      for (const [i, value] of blockOf(word, at / BLOCK)
        .slice(0, dimensions - at)
        .entries())
        vector[at + i] = (vector[at + i] as number) + value;
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector.map((_, at) => (at === 0 ? 1 : 0)) : vector.map((value) => value / length);
}

/** A block of 16 components of a word's vector, each between -1 and 1. */
function blockOf(word: string, block: number): number[] {
  const hash = createHash("sha256").update(`${block} ${word}`).digest();
  return Array.from({ length: BLOCK }, (_, at) => hash.readInt16LE(at * 2) / 32_768);
}
