import type { Place } from "../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Members that vary between frames without meaning: a sequence number, and padding that hides the length of a piece. */
const VARYING = ["obfuscation", "sequence_number"] as const;

/** The JSON of a frame without its piece of arguments and varying members. */
export function textAround(body: JsonObject, { holder, key }: Place): string {
  const value = holder[key];
  holder[key] = "";
  const { [VARYING[0]]: _hidden, [VARYING[1]]: _number, ...rest } = body;
  const around = JSON.stringify(rest);
  holder[key] = value;
  return around;
}
