import { isObject } from "../kernel/json-value.ts";

/** The settings for the answer, as contained in the body that was sent. */
export interface SentSettings {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  /** All instructions, including the gateway's, in order and joined with line feeds; null if there are none. */
  readonly instructions: string | null;
}

export const NOTHING_SENT: SentSettings = { temperature: null, maxTokens: null, instructions: null };

/** Reads the settings from an outbound body, whose members may have any type. */
export function sentSettings(temperature: unknown, maxTokens: unknown, instructions: readonly string[]): SentSettings {
  return {
    temperature: typeof temperature === "number" ? temperature : null,
    maxTokens: typeof maxTokens === "number" ? maxTokens : null,
    instructions: joinedInstructions(instructions),
  };
}

/**
 * The temperature to send; null for none. If the model takes no temperature, a value set by a control is dropped; the
 * caller's own value is sent, and the vendor decides.
 */
export function temperatureToSend(
  now: number | null,
  asSent: number | null,
  { defaultTemperature, sampling }: { readonly defaultTemperature: number | null; readonly sampling?: boolean | undefined },
): number | null {
  if (sampling === false && now !== asSent) return null;
  return now ?? defaultTemperature;
}

export function joinedInstructions(parts: readonly (string | null)[]): string | null {
  const present = parts.filter((part) => part !== null);
  return present.length === 0 ? null : present.join("\n");
}

/** The texts of a content, which is a string or an array of parts. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (Array.isArray(content)) return content.flatMap(textsOf);
  return isObject(content) && typeof content.text === "string" ? [content.text] : [];
}

/** The instruction texts among the turns of a conversation. */
export function systemTexts(turns: unknown): string[] {
  if (!Array.isArray(turns)) return [];
  return turns.flatMap((turn: unknown) =>
    isObject(turn) && (turn.role === "system" || turn.role === "developer") ? textsOf(turn.content) : [],
  );
}
