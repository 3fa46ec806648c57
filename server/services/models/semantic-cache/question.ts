import type { CallerCodec } from "../../../wire/conversation/codec.ts";
import type { CacheQuestion } from "../../../wire/conversation/question.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

const LONGEST = 8_000;

/** Null where the request does not end in a text of its user, or in one too long to be compared. */
export function questionOf(caller: Pick<CallerCodec, "question">, body: JsonObject): CacheQuestion | null {
  const split = caller.question(body);
  return split === null || split.question.trim() === "" || split.question.length > LONGEST ? null : split;
}
