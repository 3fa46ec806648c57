import type { TextGuard } from "../text-guard.ts";

/** Longer texts are inspected in pieces of this many characters, to give other calls their turn. */
const MAX_LENGTH = 64 * 1024;
/** The same if a detector may stop early: the rest of a piece is folded again each time it resumes. */
const MAX_IN_PIECES_LENGTH = 4 * 1024;

/** How many characters a guard is given at a time. */
export function strideOf({ rules }: TextGuard): number {
  return rules.some(({ detector }) => detector.findSome !== undefined) ? MAX_IN_PIECES_LENGTH : MAX_LENGTH;
}
