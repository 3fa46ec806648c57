import { normalisedPrefix, PLAIN_CHARACTERS } from "./normalised-prefix.ts";

const SLOTS_BITS = 15;

/** Sets in one table: each has a bit for a complete prefix and another, eight bits higher, for one that continues. */
const MAX_SETS = 8;
const WHOLE = (1 << MAX_SETS) - 1;

function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x9e3779b1);
}

/**
 * Up to eight sets of prefixes in one table: testing all of them costs one look-up per character and no allocation. There is a table
 * of first characters and one of hashes for anything longer. Hash collisions may cause false positives, but never false negatives.
 */
export class PrefixSets {
  readonly #first = new Uint16Array(65_536);
  readonly #longer = new Uint16Array(1 << SLOTS_BITS);

  constructor(...sets: readonly Iterable<string>[]) {
    if (sets.length > MAX_SETS) throw new Error(`at most ${MAX_SETS} sets of beginnings`);
    const first = new Uint16Array(65_536);
    sets.forEach((beginnings, set) => {
      for (const text of beginnings) {
        const code = normalisedPrefix(text.charCodeAt(0));
        const state = (length: number) => (text.length === length ? 1 : 1 << MAX_SETS) << set;
        first[code] = (first[code] ?? 0) | state(1);
        let hash = code;
        for (let i = 1; i < text.length; i++) {
          hash = mixed(hash, normalisedPrefix(text.charCodeAt(i)));
          const slot = hash >>> (32 - SLOTS_BITS);
          this.#longer[slot] = (this.#longer[slot] ?? 0) | state(i + 1);
        }
      }
    });
    for (let code = 0; code < first.length; code++) this.#first[code] = first[normalisedPrefix(code)] ?? 0;
  }

  /** The sets, one bit each, that may have a prefix at `at`, including those for which the text ends too early to tell. */
  stateAt(text: string, at: number): number {
    const code = text.charCodeAt(at);
    let state = this.#first[code] ?? 0;
    let whole = state & WHOLE;
    let open = (state >> MAX_SETS) & ~whole;
    if (open === 0) return whole;
    const { length } = text;
    const longer = this.#longer;
    let hash = PLAIN_CHARACTERS[code] ?? 0;
    for (let next = at + 1; open !== 0; next++) {
      if (next >= length) return whole | open;
      hash = mixed(hash, PLAIN_CHARACTERS[text.charCodeAt(next)] ?? 0);
      state = longer[hash >>> (32 - SLOTS_BITS)] ?? 0;
      whole |= state & open;
      open &= (state >> MAX_SETS) & ~whole;
    }
    return whole;
  }
}
