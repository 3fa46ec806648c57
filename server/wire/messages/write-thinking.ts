import type { TargetModel } from "../conversation/codec.ts";
import type { ConversationRequest, Feature, Reasoning } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { adaptiveEffort, budgetOf, claudeThinking, MIN_BUDGET } from "./claude-thinking.ts";
import { continuesWithoutThinking, forcesCall } from "./thinking-limits.ts";
import { FALLBACK_CEILING, thinkingRoomFor } from "./thinking-room.ts";

export interface WrittenThinking {
  readonly ceiling: number;
  readonly thinking: JsonObject | null;
  /** For `output_config.effort`. */
  readonly effort: string | null;
  /** True if the sampling parameters must stay at their defaults, because Claude thinks. */
  readonly fixedSampling: boolean;
}

/**
 * Writes the thinking settings in the form that the Claude version supports. Other models served in this format get the
 * caller's settings.
 */
export function writeMessagesThinking(request: ConversationRequest, target: TargetModel, dropped: Set<Feature>): WrittenThinking {
  const { reasoning } = request;
  const ceiling = request.maxOutputTokens ?? target.maxOutputTokens ?? FALLBACK_CEILING;
  const unsaid: WrittenThinking = { ceiling, thinking: null, effort: null, fixedSampling: false };
  if (reasoning === null) return unsaid;
  const style = target.name.includes("claude") ? claudeThinking(target.name) : null;
  if (reasoning.effort === "none" || reasoning.budgetTokens === 0)
    return style === "none" ? unsaid : { ...unsaid, thinking: { type: "disabled" } };
  if (style === "none" || (style !== null && forcesCall(request.toolChoice)) || (style === "budget" && continuesWithoutThinking(request))) {
    dropped.add("reasoning");
    return unsaid;
  }
  const display = reasoning.visible === null ? {} : { display: reasoning.visible ? "summarized" : "omitted" };
  const fixedSampling = style !== null;
  if (style === "adaptive" || (style === null && !countsTokens(reasoning)))
    return { ...unsaid, thinking: { type: "adaptive", ...display }, effort: adaptiveEffort(reasoning), fixedSampling };
  if (reasoning.effort === null && reasoning.budgetTokens === null) return unsaid;

  const effort = style === null && reasoning.effort !== null ? adaptiveEffort(reasoning) : null;
  const room = thinkingRoomFor(
    Math.max(MIN_BUDGET, budgetOf(reasoning)),
    ceiling,
    request.maxOutputTokens === null && target.maxOutputTokens === null,
  );
  if (room === null) {
    dropped.add("reasoning");
    return { ...unsaid, effort };
  }
  return { ceiling: room.ceiling, thinking: { type: "enabled", budget_tokens: room.budget, ...display }, effort, fixedSampling };
}

const countsTokens = ({ budgetTokens }: Reasoning): boolean => budgetTokens !== null && budgetTokens > 0;
