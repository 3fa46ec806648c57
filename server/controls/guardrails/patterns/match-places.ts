import type { PatternStarts } from "./pattern-starts.ts";

/** Searched at a time; a search sees the window behind its piece. With many instructions it is shorter. */
export const SEARCHED_PIECE = 2048;
/** More places where a match may begin, and a piece is searched as a whole. */
const MAX_PLACES = SEARCHED_PIECE / 32;

/** The places of [from, to) where a match may begin; null when they are many. */
export function matchPlaces(starts: PatternStarts, text: string, from: number, to: number): readonly number[] | null {
  const places: number[] = [];
  for (let at = starts.next(text, from, to); at < to; at = starts.next(text, at + 1, to)) {
    if (places.length === MAX_PLACES) return null;
    places.push(at);
  }
  return places;
}
