import type { ConversationRequest, Effort, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { adaptiveEffort, budgetOf, effortOf, MIN_BUDGET } from "../messages/claude-thinking.ts";
import { continuesWithoutThinking, forcesCall } from "../messages/thinking-limits.ts";
import { thinkingStyle } from "./model-family.ts";
import type { RequestReport } from "./request-report.ts";

export interface WrittenReasoning {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig.effort`. */
  readonly effort: string | null;
  /** The output limit, if reasoning requires one; otherwise the caller's. */
  readonly maxTokens: number | null;
  /** True if the sampling parameters must stay at their defaults, as for Claude while it thinks. */
  readonly fixedSampling: boolean;
}

/** Reserved for the answer if the caller set no limit. */
const ANSWER_TOKENS = 4096;

/** Writes the reasoning settings in the form of the model's family; models without settings for it reason by default. */
export function writeConverseReasoning(
  request: ConversationRequest,
  target: { readonly name: string; readonly maxOutputTokens: number | null },
  report: RequestReport,
): WrittenReasoning {
  const unchanged: WrittenReasoning = { fields: {}, effort: null, maxTokens: request.maxOutputTokens, fixedSampling: false };
  const { reasoning } = request;
  if (reasoning === null || (reasoning.effort === null && reasoning.budgetTokens === null)) return unchanged;
  const style = thinkingStyle(target.name);
  const effort = effortOf(reasoning);
  if (style === "adaptive" || style === "budget") {
    if (effort === "none") return style === "adaptive" ? { ...unchanged, fields: { thinking: { type: "disabled" } } } : unchanged;
    if (forcesCall(request.toolChoice)) {
      report.drop("reasoning");
      return unchanged;
    }
    return style === "adaptive" ? adaptive(reasoning, unchanged) : budgeted(request, reasoning, target.maxOutputTokens, unchanged, report);
  }
  if (style === "nova")
    return effort === "none"
      ? unchanged
      : { ...unchanged, fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: novaEffort(request, effort) } } };
  if (style === "effort") return { ...unchanged, fields: { reasoning_effort: coarse(effort === "none" ? "low" : effort) } };
  if (effort !== "none") report.drop("reasoning");
  return unchanged;
}

function adaptive(reasoning: Reasoning, unchanged: WrittenReasoning): WrittenReasoning {
  const display = reasoning.visible === null ? {} : { display: reasoning.visible ? "summarized" : "omitted" };
  return { ...unchanged, fields: { thinking: { type: "adaptive", ...display } }, effort: adaptiveEffort(reasoning), fixedSampling: true };
}

function budgeted(
  request: ConversationRequest,
  reasoning: Reasoning,
  mostTokens: number | null,
  unchanged: WrittenReasoning,
  report: RequestReport,
): WrittenReasoning {
  const thinkingBudget = budgetOf(reasoning);
  const ceiling = request.maxOutputTokens ?? mostTokens ?? thinkingBudget + ANSWER_TOKENS;
  const budget = Math.min(thinkingBudget, ceiling - 1);
  if (budget < MIN_BUDGET || continuesWithoutThinking(request)) {
    report.drop("reasoning");
    return unchanged;
  }
  return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, effort: null, maxTokens: ceiling, fixedSampling: true };
}

function coarse(effort: Exclude<Effort, "none">): "low" | "medium" | "high" {
  return effort === "minimal" || effort === "low" ? "low" : effort === "medium" ? "medium" : "high";
}

/** Nova accepts its highest effort only without an output limit and without sampling parameters. */
function novaEffort({ maxOutputTokens, temperature, topP, topK }: ConversationRequest, effort: Exclude<Effort, "none">): string {
  const free = maxOutputTokens === null && temperature === null && topP === null && topK === null;
  const coarseEffort = coarse(effort);
  return coarseEffort === "high" && !free ? "medium" : coarseEffort;
}
