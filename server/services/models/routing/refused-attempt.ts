import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Answer } from "../../../road/answer.ts";
import type { Attempt } from "../../../road/call.ts";
import { streamUsage } from "../../../road/metering/stream-usage.ts";
import type { RefusedFor } from "../../../wire/refused-for.ts";
import type { AnsweredAttempt, FailedAttempt } from "./attempt-result.ts";

/** The outcome of an attempt after which a member took over for that reason. */
export const OUTCOMES_TAKEN_OVER: Readonly<Record<RefusedFor, string>> = {
  context_window: "context_window_exceeded",
  content_filter: "content_filtered",
};

/** An attempt whose answer is the provider's refusal; the caller gets it if no other member answers. */
export interface RefusedAttempt {
  readonly model: ModelEntry;
  /** The attempt on the call's record. */
  readonly told: Attempt;
  readonly answer: Answer;
  /** Whether the answer could be cached. */
  readonly reusable: boolean;
}

/** The failure that such an attempt is if another member answers. */
export function failureOfRefusedAnswer({ answer }: AnsweredAttempt): FailedAttempt {
  return {
    failure: { outcome: OUTCOMES_TAKEN_OVER.content_filter, answer, again: "nowhere", coolMs: null, refusedFor: "content_filter" },
    usage: answer.kind === "stream" ? streamUsage(answer) : answer.usage,
    status: answer.status,
  };
}
