import { fromBytes } from "../../directory/knowledge/vectors.ts";
import { isObject } from "../../kernel/json-value.ts";

/** The vectors of an OpenAI-format answer, one for each of `count` texts; null if the answer does not contain exactly those. */
export function vectorsIn(body: Uint8Array, count: number): Float32Array[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
  const data: unknown = isObject(parsed) ? parsed.data : undefined;
  if (!Array.isArray(data) || data.length !== count) return null;
  const vectors = new Map<unknown, Float32Array>();
  for (const [place, item] of data.entries()) {
    const vector = isObject(item) ? vectorOf(item.embedding) : null;
    if (vector === null) return null;
    vectors.set((item as { index?: unknown }).index ?? place, vector);
  }
  const inOrder = Array.from({ length: count }, (_, i) => vectors.get(i));
  const { length } = inOrder[0] ?? [];
  return inOrder.every((vector) => vector?.length === length) ? (inOrder as Float32Array[]) : null;
}

const MAX_COMPONENTS = 16_384;

function vectorOf(embedding: unknown): Float32Array | null {
  // Some servers return base64 whatever encoding was requested.
  const vector =
    typeof embedding === "string"
      ? fromBytes(Buffer.from(embedding, "base64"))
      : Array.isArray(embedding)
        ? Float32Array.from(embedding)
        : null;
  return vector !== null && vector.length > 0 && vector.length <= MAX_COMPONENTS && vector.every(Number.isFinite) ? vector : null;
}
