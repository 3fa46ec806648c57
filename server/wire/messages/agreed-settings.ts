import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { takesTemperatureWithTopP } from "./claude-sampling.ts";
import { thinkingRoomFor } from "./thinking-room.ts";

/** What the caller sent of the settings that a control may set. */
export interface SentByCaller {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

/** Members that give way; null: the member is left out. */
export type AgreedSettings = { readonly [Name in "thinking" | "temperature" | "top_p"]?: JsonObject | null };

/**
 * What else has to change where a control changed a setting, because the vendor refuses the two together: a budget of thoughts above
 * the ceiling, a temperature beside thinking or top p. What the caller sent so is the vendor's to answer.
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

/** Whether the model is to think, at which it samples by its default. */
export function thinks({ thinking }: JsonObject): boolean {
  return isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive");
}
