/** A longer text is read anew by each that asks, so that no more than this stays in memory until the next text. */
const LONGEST_KEPT = 256 * 1024;

/**
 * A cache of one entry for several detectors that scan the same text one after the other: keeps what was found in the last
 * text. `read` finds what stands at or behind a place of a text, and nothing but the text may decide what that is.
 */
export class LastTextCache<Found> {
  readonly #read: (text: string, from: number) => Found;
  #kept: { readonly text: string; readonly from: number; readonly found: Found } | null = null;

  constructor(read: (text: string, from: number) => Found) {
    this.#read = read;
  }

  /** What stands at or behind `from`, and perhaps some of what stands before it. */
  of(text: string, from: number): Found {
    const kept = this.#kept;
    if (kept !== null && kept.from <= from && kept.text === text) return kept.found;
    const found = this.#read(text, from);
    if (text.length <= LONGEST_KEPT) this.#kept = { text, from, found };
    return found;
  }
}

/** Which of the sorted `places` is the first at or behind `from`; their number when none is. */
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
