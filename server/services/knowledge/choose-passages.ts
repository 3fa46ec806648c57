import type { RankedChunk } from "../../directory/knowledge/search-chunks.ts";

export interface PassageBounds {
  readonly topK: number;
  readonly similarityThreshold: number;
  readonly maxContextTokens: number;
}

export type LeftOut = "below_threshold" | "beyond_top_k" | "beyond_max_context_tokens";

/** Tracks how many passages and tokens may still be added. A passage that does not fit makes no room for a shorter, less relevant one. */
export function roomFor({ topK, maxContextTokens }: Pick<PassageBounds, "topK" | "maxContextTokens">) {
  let [taken, tokens, full] = [0, 0, false];
  return {
    get isTaken(): boolean {
      return taken >= topK;
    },
    takes(of: number): boolean {
      full ||= taken >= topK || tokens + of > maxContextTokens;
      if (full) return false;
      taken++;
      tokens += of;
      return true;
    },
  };
}

/** Which passages a call is given, and why it is not given the others. */
export function choosePassages<Chunk extends Pick<RankedChunk, "similarity" | "tokens">>(
  ranked: readonly Chunk[],
  bounds: PassageBounds,
): (Chunk & { readonly leftOut: LeftOut | null })[] {
  const room = roomFor(bounds);
  return ranked.map((chunk) => {
    // Without a vector there is nothing to hold to the threshold: such a passage was found by its words.
    if (chunk.similarity !== null && chunk.similarity < bounds.similarityThreshold) return { ...chunk, leftOut: "below_threshold" };
    if (room.isTaken) return { ...chunk, leftOut: "beyond_top_k" };
    return { ...chunk, leftOut: room.takes(chunk.tokens) ? null : "beyond_max_context_tokens" };
  });
}
