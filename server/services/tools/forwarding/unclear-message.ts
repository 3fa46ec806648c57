import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { ambiguityOf, ambiguousName } from "../../../wire/json/ambiguous-name.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { repeatedName } from "../../../wire/json/repeated-name.ts";

/** The refusal for an ambiguous message, which another parser might read differently from what was inspected; null if it is unambiguous. */
export function unclearMessage(text: string, value: JsonObject): Refusal | null {
  const unclear = ambiguousName(value);
  const twice = unclear === null ? repeatedName(text, value) : null;
  if (unclear === null && twice === null) return null;
  return refuse("upstream_invalid_response", "The tool server's answer can be read in two ways.", {
    reason: unclear === null ? `The name ${JSON.stringify(twice)} stands twice in one object.` : ambiguityOf(unclear),
  });
}

/** Breaks off an exchange at an ambiguous message. */
export class UnclearMessage extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}
