import type { Anchor, ChainFacts } from "./chain-facts.ts";

/** Hashes the rows at some positions must have, by what the writer recorded and what the caller knows from elsewhere. */
export function knownHeads(chain: ChainFacts, elsewhere: readonly Anchor[]): ReadonlyMap<number, readonly string[]> {
  const heads = new Map<number, string[]>();
  const recorded = chain.head_seq !== null && chain.head_hash !== null ? [{ chainSeq: chain.head_seq, rowHash: chain.head_hash }] : [];
  for (const { chainSeq, rowHash } of [...recorded, ...elsewhere]) heads.set(chainSeq, [...(heads.get(chainSeq) ?? []), rowHash]);
  return heads;
}
