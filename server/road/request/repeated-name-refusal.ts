import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { RequestView } from "../view.ts";

/**
 * For controls that inspect what the model reads or bound what it does: of two members with one name they see one, and the provider may use
 * the other.
 */
export function repeatedNameRefusal({ repeatedName }: RequestView): Refusal | null {
  return repeatedName === null
    ? null
    : refuse("invalid_body", undefined, { fields: [{ field: repeatedName, message: "stands more than once in one object" }] });
}
