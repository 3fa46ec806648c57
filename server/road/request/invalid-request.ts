import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { FieldProblem } from "../../wire/json/document.ts";

/** The refusal for a body that failed validation. */
export function invalidRequest(fields: readonly FieldProblem[]): Refusal {
  const unclear = fields.find(({ ambiguous }) => ambiguous === true);
  return unclear === undefined ? refuse("invalid_body", undefined, { fields }) : refuse("ambiguous_name", unclear.message);
}
