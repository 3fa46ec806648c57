import type { TextGuard } from "../text-guard.ts";

/** Longer texts are inspected in pieces of this many characters, to give other calls their turn. */
const LONGEST = 64 * 1024;
/** The same if a detector may stop early: the rest of a piece is folded again each time it resumes. */
const LONGEST_IN_PIECES = 4 * 1024;

/** How many characters a guard is given at a time. */
export function strideOf({ rules }: TextGuard): number {
  return rules.some(({ detector }) => detector.findSome !== undefined) ? LONGEST_IN_PIECES : LONGEST;
}
