import { PrefixSets } from "../patterns/prefix-sets.ts";
import { IS_WORD, isWordAt } from "../text/characters.ts";
import { firstFrom, LastTextCache } from "../text/last-text-cache.ts";

/** Offsets where phrases may begin, left to right, and for each the phrase sets (one bit each) that they may belong to. */
interface Starts {
  readonly places: readonly number[];
  readonly sets: readonly number[];
}

const registered: Iterable<string>[] = [];
let beginnings: PrefixSets | null = null;
let starts = new LastTextCache(startsIn);

function startsIn(text: string, from: number): Starts {
  beginnings ??= new PrefixSets(...registered);
  const places: number[] = [];
  const sets: number[] = [];
  const { length } = text;
  let wasWord = from > 0 && isWordAt(text, from - 1);
  for (let at = from; at < length; at++) {
    const isWord = IS_WORD[text.charCodeAt(at)] === 1;
    if (isWord && wasWord) continue;
    wasWord = isWord;
    const statesAt = beginnings.stateAt(text, at);
    if (statesAt === 0) continue;
    places.push(at);
    sets.push(statesAt);
  }
  return { places, sets };
}

/** Visits a place where a phrase may begin; returns the offset to continue from, which must be greater, or null to stop. */
type Visit = (at: number) => number | null;

/**
 * Registers a set of phrases by their prefixes (see `PrefixSets`). The returned function visits every place in [from,
 * to) where a word or symbol starts with one of them. All sets are searched at once, since detectors scan the same
 * text one after the other; registering a set discards the cached result.
 */
export function phraseStarts(set: Iterable<string>): (text: string, from: number, to: number, visit: Visit) => void {
  const bit = 1 << registered.length;
  registered.push(set);
  beginnings = null;
  starts = new LastTextCache(startsIn);
  return (text, from, to, visit) => {
    const { places, sets } = starts.of(text, from);
    let next: number | null = from;
    for (let n = firstFrom(places, from); n < places.length; n++) {
      const at = places[n] ?? 0;
      if (at >= to) return;
      if (at < next || ((sets[n] ?? 0) & bit) === 0) continue;
      next = visit(at);
      if (next === null) return;
    }
  };
}
