import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { takesTemperatureWithTopP } from "./claude-sampling.ts";
import { thinkingRoomFor } from "./thinking-room.ts";

/** The caller's values of settings that controls may change. */
export interface SentByCaller {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

/** Members to be changed; null removes the member. */
export type AgreedSettings = { readonly [Name in "thinking" | "temperature" | "top_p"]?: JsonObject | null };

/**
 * The further changes needed because a control changed a setting and the vendor refuses the combination: a thinking budget
 * above the output limit, a temperature together with thinking or `top_p`. Conflicts in the caller's own values are left
 * to the vendor.
 */
export function agreedSettings(body: JsonObject, { temperature, maxTokens }: SentByCaller, model: string): AgreedSettings {
  const agreed: { -readonly [Name in keyof AgreedSettings]: AgreedSettings[Name] } = {};
  const { thinking, max_tokens: ceiling } = body;
  if (isObject(thinking) && typeof ceiling === "number" && ceiling !== maxTokens) {
    const budget = thinking.budget_tokens;
    if (typeof budget === "number" && budget >= ceiling) {
      const room = thinkingRoomFor(budget, ceiling, false);
      agreed.thinking = room === null ? null : { ...thinking, budget_tokens: room.budget };
    }
  }
  if (typeof body.temperature !== "number" || body.temperature === temperature) return agreed;
  if (thinks(body) && agreed.thinking !== null) agreed.temperature = null;
  else if (typeof body.top_p === "number" && temperature === null && !takesTemperatureWithTopP(model)) agreed.top_p = null;
  return agreed;
}

/** Whether thinking is on, during which sampling must stay at its defaults. */
export function thinks({ thinking }: JsonObject): boolean {
  return isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive");
}
