import { isObject } from "../kernel/json-value.ts";

/** What a model was told of how to answer, as the body says that it was sent. */
export interface SentSettings {
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  /** Every instruction, whoever gave it, in order and joined with line feeds; null when there was none. */
  readonly instructions: string | null;
}

export const NOTHING_SENT: SentSettings = { temperature: null, maxTokens: null, instructions: null };

/** Of a body that is written already, whose members may be anything. */
export function sentSettings(temperature: unknown, maxTokens: unknown, instructions: readonly string[]): SentSettings {
  return {
    temperature: typeof temperature === "number" ? temperature : null,
    maxTokens: typeof maxTokens === "number" ? maxTokens : null,
    instructions: joinedInstructions(instructions),
  };
}

/**
 * The temperature a provider is sent, null for none. What a control set stays out where the model takes none; what the
 * caller sent is the vendor's to answer.
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
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? null : said.join("\n");
}

/** The texts of a content: a text itself, or parts that have one. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (Array.isArray(content)) return content.flatMap(textsOf);
  return isObject(content) && typeof content.text === "string" ? [content.text] : [];
}

/** What the turns of a conversation say that are instructions. */
export function systemTexts(turns: unknown): string[] {
  if (!Array.isArray(turns)) return [];
  return turns.flatMap((turn: unknown) =>
    isObject(turn) && (turn.role === "system" || turn.role === "developer") ? textsOf(turn.content) : [],
  );
}
