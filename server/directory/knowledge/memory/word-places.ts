/**
 * Where words are: a word is known by three bytes of its digest, the first twelve bits of which are the number of its list.
 * An entry of a list is how far the passage is from the one of the entry before (16 bits), the other bits of the word (12) and
 * how often it is there (4).
 */
const LISTS = 4_096;
const FARTHEST = 65_535;
const OFTENEST = 15;
const FIRST_ROOM = 8;
const NONE = new Uint32Array();
/** What a list takes beside its entries. */
const BYTES_A_LIST = 120;

interface PlaceList {
  entries: Uint32Array;
  length: number;
  /** The passage of the last entry. */
  at: number;
}

export class WordPlaces {
  private readonly lists: (PlaceList | undefined)[] = [];
  bytes = 0;

  /** `passage` is no less than any before. */
  add(term: number, often: number, passage: number): void {
    const number = term >>> 12;
    let list = this.lists[number];
    if (list === undefined) {
      list = { entries: new Uint32Array(FIRST_ROOM), length: 0, at: 0 };
      if (this.lists.length === 0) this.lists.length = LISTS;
      this.lists[number] = list;
      this.bytes += BYTES_A_LIST + list.entries.byteLength;
    }
    for (; passage - list.at > FARTHEST; list.at += FARTHEST) this.push(list, FARTHEST * 65_536);
    this.push(list, (passage - list.at) * 65_536 + ((term & 4_095) << 4) + Math.min(OFTENEST, often));
    list.at = passage;
  }

  /** Every passage with the word in order, and how often it is there. */
  of(term: number): { readonly count: number; readonly passages: Uint32Array; readonly often: Uint8Array } {
    const { entries, length } = this.lists[term >>> 12] ?? { entries: NONE, length: 0 };
    const [passages, often] = [new Uint32Array(length), new Uint8Array(length)];
    const wanted = (term & 4_095) << 4;
    let count = 0;
    for (let i = 0, passage = 0; i < length; i++) {
      const entry = entries[i] as number;
      passage += entry >>> 16;
      // What only goes far says 0 times.
      if ((entry & 65_520) !== wanted || (entry & OFTENEST) === 0) continue;
      passages[count] = passage;
      often[count++] = entry & OFTENEST;
    }
    return { count, passages, often };
  }

  /** The same for passages under other numbers; those that have none are left out. The order has to stay. */
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
      const grown = new Uint32Array(Math.ceil(list.length * 1.3));
      grown.set(list.entries);
      this.bytes += grown.byteLength - list.entries.byteLength;
      list.entries = grown;
    }
    list.entries[list.length++] = entry;
  }
}
