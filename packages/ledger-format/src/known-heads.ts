import type { Anchor, ChainFacts } from "./chain-facts.ts";

/** The hashes that rows at certain positions must have, from the writer's record and from anchors the caller has. */
export function knownHeads(chain: ChainFacts, elsewhere: readonly Anchor[]): ReadonlyMap<number, readonly string[]> {
  const heads = new Map<number, string[]>();
  const recorded = chain.head_seq !== null && chain.head_hash !== null ? [{ chainSeq: chain.head_seq, rowHash: chain.head_hash }] : [];
  for (const { chainSeq, rowHash } of [...recorded, ...elsewhere]) heads.set(chainSeq, [...(heads.get(chainSeq) ?? []), rowHash]);
  return heads;
}
