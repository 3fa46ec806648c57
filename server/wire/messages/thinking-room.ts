import { MIN_BUDGET } from "./claude-thinking.ts";

/** The vendor requires an output limit; every model supports this one. */
export const FALLBACK_CEILING = 4096;

/** Fits a thinking budget into the output limit, of which it is a part, leaving room for the answer. Null if there is no room. */
export function thinkingRoomFor(budget: number, ceiling: number, mayRaise: boolean): { ceiling: number; budget: number } | null {
  if (budget < ceiling) return { ceiling, budget };
  if (mayRaise) return { ceiling: budget + FALLBACK_CEILING, budget };
  return ceiling > MIN_BUDGET ? { ceiling, budget: ceiling - 1 } : null;
}
