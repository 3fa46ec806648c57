import type { Place } from "../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Members that tell frames apart and say nothing of the call: a number, and what hides how long a piece is. */
const VARYING = ["obfuscation", "sequence_number"] as const;

/** The text of a frame beside its piece of arguments. */
export function textAround(body: JsonObject, { holder, key }: Place): string {
  const value = holder[key];
  holder[key] = "";
  const { [VARYING[0]]: _hidden, [VARYING[1]]: _number, ...rest } = body;
  const around = JSON.stringify(rest);
  holder[key] = value;
  return around;
}
