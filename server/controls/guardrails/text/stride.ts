import type { TextGuard } from "../text-guard.ts";

/** Longer texts are looked at in pieces of this, so that other calls get their turn in between. */
const LONGEST = 64 * 1024;
/** The same where a detector stops in between: what is left of a piece is read anew each time it goes on. */
const LONGEST_IN_PIECES = 4 * 1024;

/** How many characters of a long text a guard is given at a time. */
export function strideOf({ rules }: TextGuard): number {
  return rules.some(({ detector }) => detector.findSome !== undefined) ? LONGEST_IN_PIECES : LONGEST;
}
