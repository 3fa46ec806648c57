import type { TextGuard } from "./text-guard.ts";

/** Longer texts are looked at in pieces of this, so that other calls get their turn in between. */
const LONGEST = 64 * 1024;

/** How many characters a guard looks at without a break: fewer, the more each may cost. */
export function strideOf({ rules }: TextGuard): number {
  let stride = LONGEST;
  for (const { detector } of rules) if (detector.stride !== undefined && detector.stride < stride) stride = detector.stride;
  return stride;
}
