import type { RankedChunk } from "../../directory/knowledge/search-chunks.ts";

export interface PassageBounds {
  readonly topK: number;
  readonly similarityThreshold: number;
  readonly maxContextTokens: number;
}

export type LeftOut = "below_threshold" | "beyond_top_k" | "beyond_max_context_tokens";

/** Tracks how many passages and tokens may still be added. Once a passage does not fit, no later one is taken, even if it is shorter. */
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

/** Marks each ranked passage as taken (`leftOut` is null) or with the reason why it was left out. */
export function choosePassages<Chunk extends Pick<RankedChunk, "similarity" | "tokens">>(
  ranked: readonly Chunk[],
  bounds: PassageBounds,
): (Chunk & { readonly leftOut: LeftOut | null })[] {
  const room = roomFor(bounds);
  return ranked.map((chunk) => {
    // Full-text matches have no vector, so the similarity threshold does not apply to them.
    if (chunk.similarity !== null && chunk.similarity < bounds.similarityThreshold) return { ...chunk, leftOut: "below_threshold" };
    if (room.isTaken) return { ...chunk, leftOut: "beyond_top_k" };
    return { ...chunk, leftOut: room.takes(chunk.tokens) ? null : "beyond_max_context_tokens" };
  });
}
