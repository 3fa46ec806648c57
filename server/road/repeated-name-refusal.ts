import { type Refusal, refuse } from "../kernel/errors.ts";
import type { RequestView } from "./view.ts";

/**
 * For controls that look at what the model is to read or bound what it may do: of two members of one name they see one,
 * and the provider may take the other.
 */
export function repeatedNameRefusal({ repeatedName }: RequestView): Refusal | null {
  return repeatedName === null
    ? null
    : refuse("invalid_body", undefined, { fields: [{ field: repeatedName, message: "stands more than once in one object" }] });
}
