import type { Usage } from "../../../wire/usage.ts";
import type { Answer } from "../../../road/answer.ts";
import type { Failure } from "./upstream-failure.ts";

export type AttemptResult = { readonly answer: Answer } | FailedAttempt;

export interface FailedAttempt {
  readonly failure: Failure;
  readonly usage: Usage | null;
  /** The provider's own, whatever the caller is told; null when none arrived. */
  readonly status: number | null;
  /** Whether its provider may have been at work on it when it broke off or took too long, and bills what it was sent. */
  readonly left?: true;
}
