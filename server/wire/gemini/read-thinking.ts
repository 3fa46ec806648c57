import type { Effort, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { booleanIn, numberIn, textIn } from "./members.ts";

const EFFORT: Readonly<Record<string, Effort>> = { MINIMAL: "minimal", LOW: "low", MEDIUM: "medium", HIGH: "high" };

export function readGeminiThinking(config: JsonObject): Reasoning {
  const level = textIn(config, "thinkingLevel")?.toUpperCase() ?? "";
  return {
    effort: Object.hasOwn(EFFORT, level) ? (EFFORT[level] as Effort) : null,
    budgetTokens: numberIn(config, "thinkingBudget"),
    visible: booleanIn(config, "includeThoughts"),
  };
}
