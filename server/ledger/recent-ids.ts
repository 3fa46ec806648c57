/** Remembers the newest IDs (some 16,000 to 32,000), to detect a call that is sealed twice. */
export interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

const GENERATION = 16_384;

/** A second row with the same ID would be rejected by the table and leave a gap in the chain that looks like a deletion. */
export function recentIds(): RecentIds {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (id) => young.has(id) || old.has(id),
    add(id) {
      if (young.size >= GENERATION) {
        old = young;
        young = new Set();
      }
      young.add(id);
    },
  };
}
