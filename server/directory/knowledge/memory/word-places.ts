/**
 * A word index. A word is identified by three bytes of its digest; the first 12 bits select its list. A list entry holds
 * the distance to the previous entry's passage (16 bits), the word's other 12 bits and its count in the passage (4 bits).
 */
const LISTS = 4_096;
const FARTHEST = 65_535;
const OFTENEST = 15;
const FIRST_ROOM = 8;
const NONE = new Int32Array();
/** The overhead of a list besides its entries. */
const BYTES_A_LIST = 120;

interface PlaceList {
  /** Signed, because signed 32-bit integers are fastest. */
  entries: Int32Array;
  length: number;
  /** The passage of the last entry. */
  at: number;
}

/** Only the first `count` elements of each array are valid. */
export interface WordHits {
  count: number;
  readonly passages: Int32Array;
  readonly often: Uint8Array;
}

export class WordPlaces {
  private readonly lists: (PlaceList | undefined)[] = [];
  bytes = 0;

  /** `passage` must not be smaller than in earlier calls. */
  add(term: number, often: number, passage: number): void {
    const number = term >>> 12;
    let list = this.lists[number];
    if (list === undefined) {
      list = { entries: new Int32Array(FIRST_ROOM), length: 0, at: 0 };
      if (this.lists.length === 0) this.lists.length = LISTS;
      this.lists[number] = list;
      this.bytes += BYTES_A_LIST + list.entries.byteLength;
    }
    for (; passage - list.at > FARTHEST; list.at += FARTHEST) this.push(list, FARTHEST * 65_536);
    this.push(list, (passage - list.at) * 65_536 + ((term & 4_095) << 4) + Math.min(OFTENEST, often));
    list.at = passage;
  }

  /** Every passage with the word, in order, and the word's count in it. */
  of(term: number): WordHits {
    const { entries, length } = this.lists[term >>> 12] ?? { entries: NONE, length: 0 };
    const hits = { count: 0, passages: new Int32Array(length + 1), often: new Uint8Array(length + 1) };
    hits.count = collect(entries, length, (term & 4_095) << 4, hits.passages, hits.often);
    return hits;
  }

  /** A copy with renumbered passages, omitting those without a new number. Renumbering must preserve the order. */
  renumbered(numbers: ReadonlyMap<number, number>): WordPlaces {
    const made = new WordPlaces();
    for (const [number, list] of this.lists.entries())
      for (let i = 0, passage = 0; list !== undefined && i < list.length; i++) {
        const entry = list.entries[i] as number;
        passage += entry >>> 16;
        const now = numbers.get(passage);
        if (now !== undefined && (entry & OFTENEST) !== 0) made.add((number << 12) | ((entry >>> 4) & 4_095), entry & OFTENEST, now);
      }
    return made;
  }

  private push(list: PlaceList, entry: number): void {
    if (list.length === list.entries.length) {
      const grown = new Int32Array(Math.ceil(list.length * 1.3));
      grown.set(list.entries);
      this.bytes += grown.byteLength - list.entries.byteLength;
      list.entries = grown;
    }
    list.entries[list.length++] = entry;
  }
}

/** Returns the number of hits. A separate function, so that the compiler optimizes the loop. */
function collect(entries: Int32Array, length: number, wanted: number, passages: Int32Array, often: Uint8Array): number {
  let count = 0;
  let passage = 0;
  for (let i = 0; i < length; i++) {
    const entry = entries[i] as number;
    passage += entry >>> 16;
    const times = (entry & 65_535) - wanted;
    passages[count] = passage;
    often[count] = times;
    // Avoids a branch. Entries that only bridge a distance have a count of 0.
    count += times > 0 && times <= OFTENEST ? 1 : 0;
  }
  return count;
}
