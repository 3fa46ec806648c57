import { MIN_BUDGET } from "./claude-thinking.ts";

/** The vendor requires a ceiling; every model it serves can write this much. */
export const FALLBACK_CEILING = 4096;

/** The ceiling must leave room for an answer behind the thoughts, whose budget is part of it. Null: there is none. */
export function thinkingRoomFor(budget: number, ceiling: number, mayRaise: boolean): { ceiling: number; budget: number } | null {
  if (budget < ceiling) return { ceiling, budget };
  if (mayRaise) return { ceiling: budget + FALLBACK_CEILING, budget };
  return ceiling > MIN_BUDGET ? { ceiling, budget: ceiling - 1 } : null;
}
