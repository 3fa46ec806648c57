import type { CallerCodec } from "../../../wire/conversation/codec.ts";
import type { CacheQuestion } from "../../../wire/conversation/question.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

const MAX_LENGTH = 8_000;

/** The question of a request; null if the request does not end in a text from the user, or in one too long to compare. */
export function questionOf(caller: Pick<CallerCodec, "question">, body: JsonObject): CacheQuestion | null {
  const split = caller.question(body);
  return split === null || split.question.trim() === "" || split.question.length > MAX_LENGTH ? null : split;
}
