import { isObject } from "../../../kernel/json-value.ts";
import { quantised } from "./vectors.ts";

/** The quantised vector of an embeddings answer; null if there is none. */
export function vectorIn(body: Uint8Array): Int8Array | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
  const data = isObject(parsed) && Array.isArray(parsed.data) ? parsed.data[0] : undefined;
  let embedding: unknown = isObject(data) ? data.embedding : undefined;
  // Some servers return base64 although floats were requested.
  if (typeof embedding === "string") {
    const bytes = Buffer.from(embedding, "base64");
    embedding = Array.from({ length: Math.floor(bytes.byteLength / 4) }, (_, i) => bytes.readFloatLE(i * 4));
  }
  if (
    !Array.isArray(embedding) ||
    embedding.length === 0 ||
    embedding.length > 16_384 ||
    !embedding.every((value) => typeof value === "number" && Number.isFinite(value))
  )
    return null;
  return quantised(embedding as number[]);
}
