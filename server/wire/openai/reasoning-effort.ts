import type { Effort, Reasoning } from "../conversation/request.ts";
import type { WriteReport } from "./write-report.ts";

/** The lowest effort of models that take one with which they hardly or never reason; all others refuse the word, or the field. */
const LOWEST: readonly (readonly [RegExp, Effort])[] = [
  [/(?:^|\/)gpt-5(?:-mini|-nano)?(?:-\d{4}-\d{2}-\d{2})?$/, "minimal"],
  [/(?:^|\/)gpt-(?:5\.[1-9]|[6-9]|\d\d)(?!.*-(?:chat|pro|codex))/, "none"],
  [/(?:^|\/)gemini-2\.5-flash/, "none"],
];

/** How much a model is to reason, in OpenAI's words; null leaves it to the model. */
export function effortFor({ effort, budgetTokens }: Reasoning, model: string, report: WriteReport): Effort | null {
  // A caller of this format named the effort itself. Elsewhere "no thinking" is said to every model, also to one that never thinks.
  if (budgetTokens !== 0) return effort ?? effortOfBudget(budgetTokens);
  const lowest = LOWEST.find(([name]) => name.test(model))?.[1] ?? null;
  if (lowest === null) report.drop("reasoning");
  return lowest;
}

/** Effort for a caller who counted reasoning in tokens. */
function effortOfBudget(tokens: number | null): Effort | null {
  if (tokens === null || tokens < 0) return null;
  if (tokens <= 4096) return "low";
  return tokens <= 16_384 ? "medium" : "high";
}
