import type { PatternStarts } from "./pattern-starts.ts";

/** Characters searched at once; a search also sees the window after its piece. Shorter if there are many instructions. */
export const SEARCHED_PIECE = 2048;
/** If there are more possible places, the piece is searched as a whole. */
const MAX_PLACES = SEARCHED_PIECE / 32;

/** Offsets in [from, to) where a match may begin; null if there are too many. */
export function matchPlaces(starts: PatternStarts, text: string, from: number, to: number): readonly number[] | null {
  const places: number[] = [];
  for (let at = starts.next(text, from, to); at < to; at = starts.next(text, at + 1, to)) {
    if (places.length === MAX_PLACES) return null;
    places.push(at);
  }
  return places;
}
