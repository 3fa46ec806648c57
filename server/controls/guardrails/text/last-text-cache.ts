/** Longer texts are not cached, which bounds the memory kept until the next text. */
const MAX_CACHED_LENGTH = 256 * 1024;

/**
 * A cache of one entry, for several detectors that scan the same text one after the other. `read` finds what is at or
 * after an offset and must depend on nothing but the text.
 */
export class LastTextCache<Found> {
  readonly #read: (text: string, from: number) => Found;
  #kept: { readonly text: string; readonly from: number; readonly found: Found } | null = null;

  constructor(read: (text: string, from: number) => Found) {
    this.#read = read;
  }

  /** What is at or after `from`, and possibly some of what precedes it. */
  of(text: string, from: number): Found {
    const kept = this.#kept;
    if (kept !== null && kept.from <= from && kept.text === text) return kept.found;
    const found = this.#read(text, from);
    if (text.length <= MAX_CACHED_LENGTH) this.#kept = { text, from, found };
    return found;
  }
}

/** Index of the first of the sorted `places` at or after `from`; their number if there is none. */
export function firstFrom(places: readonly number[], from: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
