import type { ConversationRequest, Effort, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../document.ts";
import { forces } from "./converse-tools.ts";
import { thinkingStyle } from "./model-family.ts";
import type { RequestReport } from "./request-report.ts";

export interface WrittenReasoning {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig.effort`. */
  readonly effort: string | null;
  /** Output ceiling where one is needed, else what the caller asked for. */
  readonly maxTokens: number | null;
  /** Claude samples at its default while it thinks. */
  readonly fixedSampling: boolean;
}

/** Claude's own least. */
const LEAST_BUDGET = 1024;
/** Left for the answer where the caller set no ceiling. */
const ANSWER_TOKENS = 4096;

const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = { minimal: LEAST_BUDGET, low: 2048, medium: 8192, high: 16_384, xhigh: 24_576, max: 31_999 };

/** How much the model is to reason, in the fields of its family; models that cannot be told reason as they do. */
export function writeReasoning(request: ConversationRequest, target: { readonly name: string; readonly maxOutputTokens: number | null }, report: RequestReport): WrittenReasoning {
  const unchanged: WrittenReasoning = { fields: {}, effort: null, maxTokens: request.maxOutputTokens, fixedSampling: false };
  const { reasoning } = request;
  if (reasoning === null || (reasoning.effort === null && reasoning.budgetTokens === null)) return unchanged;
  const style = thinkingStyle(target.name);
  const effort = effortOf(reasoning);
  if (style === "adaptive" || style === "budget") {
    if (effort === "none") return style === "adaptive" ? { ...unchanged, fields: { thinking: { type: "disabled" } } } : unchanged;
    // Claude refuses to think where it must call a tool, and the call is what the caller insists on.
    if (forces(request.toolChoice)) {
      report.drop("reasoning");
      return unchanged;
    }
    return style === "adaptive" ? adaptive(reasoning, effort, unchanged) : budgeted(request, reasoning, effort, target.maxOutputTokens, unchanged, report);
  }
  if (style === "nova") return effort === "none" ? unchanged : { ...unchanged, fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: novaEffort(request, effort) } } };
  if (style === "effort") return { ...unchanged, fields: { reasoning_effort: coarse(effort === "none" ? "low" : effort) } };
  if (effort !== "none") report.drop("reasoning");
  return unchanged;
}

function adaptive(reasoning: Reasoning, effort: Exclude<Effort, "none">, unchanged: WrittenReasoning): WrittenReasoning {
  const display = reasoning.visible === null ? {} : { display: reasoning.visible ? "summarized" : "omitted" };
  const said = reasoning.effort === null && reasoning.budgetTokens === -1 ? null : effort === "minimal" ? "low" : effort;
  return { ...unchanged, fields: { thinking: { type: "adaptive", ...display } }, effort: said, fixedSampling: true };
}

function budgeted(request: ConversationRequest, reasoning: Reasoning, effort: Exclude<Effort, "none">, mostTokens: number | null, unchanged: WrittenReasoning, report: RequestReport): WrittenReasoning {
  const asked = reasoning.budgetTokens !== null && reasoning.budgetTokens > 0 ? reasoning.budgetTokens : BUDGETS[effort];
  const ceiling = request.maxOutputTokens ?? mostTokens ?? asked + ANSWER_TOKENS;
  const budget = Math.min(asked, ceiling - 1);
  if (budget < LEAST_BUDGET || continuesWithoutThinking(request)) {
    report.drop("reasoning");
    return unchanged;
  }
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, effort: null, maxTokens: ceiling, fixedSampling: true };
}

/** In the middle of a tool loop Claude wants the thinking that led to the calls; a caller whose format lost it goes on without. */
function continuesWithoutThinking({ turns }: ConversationRequest): boolean {
  const last = turns.at(-1);
  if (last?.role !== "user" || !last.parts.some(({ kind }) => kind === "tool_result")) return false;
  const calling = turns.findLast(({ role }) => role === "assistant");
  return calling?.role === "assistant" && !calling.parts.some((part) => part.kind === "reasoning" && part.signature?.family === "anthropic");
}

function effortOf({ effort, budgetTokens }: Reasoning): Effort {
  if (effort !== null) return effort;
  if (budgetTokens === 0) return "none";
  if (budgetTokens === null || budgetTokens < 0) return "medium";
  return budgetTokens <= BUDGETS.low ? "low" : budgetTokens <= BUDGETS.medium ? "medium" : "high";
}

function coarse(effort: Exclude<Effort, "none">): "low" | "medium" | "high" {
  return effort === "minimal" || effort === "low" ? "low" : effort === "medium" ? "medium" : "high";
}

/** Nova takes its highest effort only without a ceiling and without sampling. */
function novaEffort({ maxOutputTokens, temperature, topP, topK }: ConversationRequest, effort: Exclude<Effort, "none">): string {
  const free = maxOutputTokens === null && temperature === null && topP === null && topK === null;
  const said = coarse(effort);
  return said === "high" && !free ? "medium" : said;
}
