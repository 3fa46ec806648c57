import type { Refusal } from "../kernel/errors.ts";
import type { WholeAnswer } from "./answer.ts";

/**
 * A control's decision on a call: a value, never an exception. Content is changed through the view; `refuse` ends the call with the
 * surface's own error body.
 */
export type Decision =
  | { readonly kind: "pass" }
  | { readonly kind: "refuse"; readonly refusal: Refusal }
  /** An existing answer that passed every control when it was new: no upstream is asked. */
  | { readonly kind: "answer"; readonly answer: WholeAnswer };

export const PASS: Decision = { kind: "pass" };

export function refused(refusal: Refusal): Decision {
  return { kind: "refuse", refusal };
}

/** Passes when the refusal is null. */
export function decisionOf(refusal: Refusal | null): Decision {
  return refusal === null ? PASS : refused(refusal);
}
