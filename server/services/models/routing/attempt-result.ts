import type { Usage } from "../../../wire/usage.ts";
import type { Answer } from "../../../road/answer.ts";
import type { Failure } from "./upstream-failure.ts";

export type AttemptResult = AnsweredAttempt | FailedAttempt;

export interface AnsweredAttempt {
  readonly answer: Answer;
  /** Set if the provider refused to answer, and this was looked for. */
  readonly isRefusal?: boolean;
}

export interface FailedAttempt {
  readonly failure: Failure;
  readonly usage: Usage | null;
  /** The provider's status, whatever the caller is told; null if no answer arrived. */
  readonly status: number | null;
  /** Set if the provider may have been working on the request when it broke off or timed out, and so may bill it. */
  readonly left?: true;
  /** Set if nothing of the request can have reached the provider. */
  readonly unsent?: true;
}
