import type { RankedChunk } from "../../directory/knowledge/search-chunks.ts";

export interface PassageBounds {
  readonly topK: number;
  readonly similarityThreshold: number;
  readonly maxContextTokens: number;
}

export type LeftOut = "below_threshold" | "beyond_top_k" | "beyond_max_context_tokens";

/** Which passages a call is given, and why it is not given the others. One that is too long makes no room for a shorter, lesser one. */
export function choosePassages<Chunk extends Pick<RankedChunk, "similarity" | "tokens">>(
  ranked: readonly Chunk[],
  { topK, similarityThreshold, maxContextTokens }: PassageBounds,
): (Chunk & { readonly leftOut: LeftOut | null })[] {
  let [taken, tokens, full] = [0, 0, false];
  return ranked.map((chunk) => {
    // Without a vector there is nothing to hold to the threshold: such a passage was found by its words.
    if (chunk.similarity !== null && chunk.similarity < similarityThreshold) return { ...chunk, leftOut: "below_threshold" };
    if (taken >= topK) return { ...chunk, leftOut: "beyond_top_k" };
    full ||= tokens + chunk.tokens > maxContextTokens;
    if (full) return { ...chunk, leftOut: "beyond_max_context_tokens" };
    taken++;
    tokens += chunk.tokens;
    return { ...chunk, leftOut: null };
  });
}
