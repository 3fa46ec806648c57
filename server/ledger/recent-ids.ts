/** Remembers the newest ids, some ten thousand, so that sealing the same call twice is noticed. */
export interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

const GENERATION = 16_384;

/** A second row with the same id would never reach the table, and leave a gap in the chain that looks like a deletion. */
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
