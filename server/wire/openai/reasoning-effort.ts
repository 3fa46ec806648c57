import type { Effort, Reasoning } from "../conversation/request.ts";
import type { WriteReport } from "./write-report.ts";

/** The lowest effort of models that support one with little or no reasoning; all others refuse the value or the field. */
const LOWEST: readonly (readonly [RegExp, Effort])[] = [
  [/(?:^|\/)gpt-5(?:-mini|-nano)?(?:-\d{4}-\d{2}-\d{2})?$/, "minimal"],
  [/(?:^|\/)gpt-(?:5\.[1-9]|[6-9]|\d\d)(?!.*-(?:chat|pro|codex))/, "none"],
  [/(?:^|\/)gemini-2\.5-flash/, "none"],
];

/** The reasoning effort in OpenAI's terms; null leaves it to the model. */
export function effortFor({ effort, budgetTokens }: Reasoning, model: string, report: WriteReport): Effort | null {
  // An explicit effort is kept. In other formats, "no thinking" may be set for any model, even one that never thinks.
  if (budgetTokens !== 0) return effort ?? effortOfBudget(budgetTokens);
  const lowest = LOWEST.find(([name]) => name.test(model))?.[1] ?? null;
  if (lowest === null) report.drop("reasoning");
  return lowest;
}

/** The effort for a reasoning budget in tokens. */
function effortOfBudget(tokens: number | null): Effort | null {
  if (tokens === null || tokens < 0) return null;
  if (tokens <= 4096) return "low";
  return tokens <= 16_384 ? "medium" : "high";
}
