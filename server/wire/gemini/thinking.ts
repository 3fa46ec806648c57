import type { Effort, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { generationOf } from "./model-name.ts";

const LEVEL: Readonly<Record<Effort, string>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH",
};

/** Thinking budgets in tokens for models without levels, as in Google's OpenAI-compatible endpoint. */
const BUDGET: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** The first generation that thinks, and the first with thinking levels. */
const THINKS = 2.5;
const TAKES_LEVELS = 3;

/** Null if the model does not think: it would refuse the request. A level and a budget exclude each other. */
export function writeGeminiThinking(reasoning: Reasoning, model: string): JsonObject | null {
  const generation = generationOf(model);
  if (generation === null || generation < THINKS) return null;
  const config: JsonObject = {};
  const { effort, budgetTokens } = reasoning;
  const pro = /pro/i.test(model);
  if (generation >= TAKES_LEVELS && effort !== null) {
    const level = LEVEL[effort];
    config.thinkingLevel = pro && level === "MINIMAL" ? "LOW" : level;
  } else if (budgetTokens !== null || effort !== null) {
    const budget = budgetTokens ?? BUDGET[effort ?? "medium"];
    config.thinkingBudget = inRange(budget, pro);
  }
  if (reasoning.visible !== null) config.includeThoughts = reasoning.visible;
  return config;
}

/** Thinking cannot be turned off for pro models. -1 leaves the amount to the model. */
function inRange(budget: number, pro: boolean): number {
  if (budget < 0) return -1;
  return pro ? Math.min(Math.max(budget, 128), 32_768) : Math.min(budget, 24_576);
}
