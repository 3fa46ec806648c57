import type { Effort, Reasoning } from "../conversation/request.ts";

/** How thinking is configured. `budget`: by a number of tokens; `adaptive`: by effort, with the amount chosen by the model. */
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

/** Claude supports thinking since 3.7, and adaptive thinking since 4.6. `name` may be from any platform. */
export function claudeThinking(name: string): ClaudeThinking {
  const version = claudeVersion(name);
  if (version === null) return "adaptive";
  const { major, minor } = version;
  if (major < 3 || (major === 3 && minor < 7)) return "none";
  return major === 3 || (major === 4 && minor < 6) ? "budget" : "adaptive";
}

/** The Claude version in a name from any platform; null if there is none, as in an alias, which is treated as a new model. */
export function claudeVersion(name: string): { readonly major: number; readonly minor: number } | null {
  if (/claude-(?:instant|v\d)/.test(name)) return { major: 2, minor: 0 };
  // claude-sonnet-4-20250514 is 4.0: more than two digits are a date.
  const version = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(name);
  return version === null ? null : { major: Number(version[1]), minor: Number(version[2] ?? 0) };
}

/** The caller's effort, or the one equivalent to the caller's budget. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort {
  if (effort !== null) return effort;
  if (budgetTokens === 0) return "none";
  if (budgetTokens === null || budgetTokens < 0) return "medium";
  return budgetTokens <= BUDGETS.low ? "low" : budgetTokens <= BUDGETS.medium ? "medium" : "high";
}

/** The effort for adaptive thinking; null if the caller left the amount to the model. */
export function adaptiveEffort(reasoning: Reasoning): string | null {
  if (reasoning.effort === null && (reasoning.budgetTokens ?? -1) < 0) return null;
  const effort = effortOf(reasoning);
  return effort === "minimal" ? "low" : effort;
}

/** The caller's budget in tokens, or the one equivalent to the caller's effort. */
export function budgetOf(reasoning: Reasoning): number {
  const { budgetTokens } = reasoning;
  const effort = effortOf(reasoning);
  return budgetTokens !== null && budgetTokens > 0 ? budgetTokens : effort === "none" ? MIN_BUDGET : BUDGETS[effort];
}
