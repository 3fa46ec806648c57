import type { Effort, Reasoning } from "../conversation/request.ts";

/** How a Claude is told to think. `budget`: by a number of tokens; `adaptive`: as it sees fit, by effort. */
export type ClaudeThinking = "none" | "budget" | "adaptive";

export const MIN_BUDGET = 1024;

const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: MIN_BUDGET,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** Claude thinks since 3.7, and decides for itself how long since 4.6. `name` is one of any platform it is served from. */
export function claudeThinking(name: string): ClaudeThinking {
  if (/claude-3-7/.test(name)) return "budget";
  if (/claude-(?:instant|v\d|\d)/.test(name)) return "none";
  // claude-sonnet-4-20250514 is 4.0: what has more than two digits is a date.
  const version = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(name);
  if (version === null) return "adaptive";
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  return major < 4 || (major === 4 && minor < 6) ? "budget" : "adaptive";
}

/** The effort meant by a caller who said it, or counted tokens. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort {
  if (effort !== null) return effort;
  if (budgetTokens === 0) return "none";
  if (budgetTokens === null || budgetTokens < 0) return "medium";
  return budgetTokens <= BUDGETS.low ? "low" : budgetTokens <= BUDGETS.medium ? "medium" : "high";
}

/** The effort a model is told that decides for itself; null where the caller left the amount to it. */
export function adaptiveEffort(reasoning: Reasoning): string | null {
  if (reasoning.effort === null && (reasoning.budgetTokens ?? -1) < 0) return null;
  const effort = effortOf(reasoning);
  return effort === "minimal" ? "low" : effort;
}

/** The tokens meant by a caller who counted them, or said an effort. */
export function budgetOf(reasoning: Reasoning): number {
  const { budgetTokens } = reasoning;
  const effort = effortOf(reasoning);
  return budgetTokens !== null && budgetTokens > 0 ? budgetTokens : effort === "none" ? MIN_BUDGET : BUDGETS[effort];
}
