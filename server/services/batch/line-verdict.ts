import type { BatchJob, LineResult } from "../../directory/batch/batch-store.ts";
import type { BackgroundAnswer } from "../../road/own-calls/background-calls.ts";
import { oneLine } from "../../wire/batch/one-line.ts";

/** What happens to a line after its call. */
export type LineVerdict =
  | { readonly kind: "done"; readonly result: Pick<LineResult, "statusCode" | "requestId" | "result" | "error"> }
  /** The line waits again, and its whole job pauses until then, because the cause is temporary. */
  | { readonly kind: "again"; readonly afterMs: number; readonly why: { readonly code: string; readonly message: string } }
  /** Nothing more of its job can be run. */
  | { readonly kind: "end"; readonly why: { readonly code: string; readonly message: string } };

/** Temporary causes: rate limits, daily quotas, unavailable parts of the gateway. */
const PASSES: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "usage_limit_reached",
  "limits_unavailable",
  "directory_unavailable",
  "audit_unavailable",
  "database_unavailable",
  "too_many_uploads",
]);
/** Temporary causes at providers, which are retried only a limited number of times. */
const PROVIDERS: ReadonlySet<string> = new Set(["upstream_overloaded", "no_healthy_member"]);
/** Refusals that apply to every line of the job, now and later. */
const ENDS: ReadonlySet<string> = new Set(["ai_system_suspended", "access_ended"]);
const OF_MODEL: ReadonlySet<string> = new Set(["model_not_found", "model_not_allowed", "model_disabled"]);
/** Whether all lines of the job go to the same model. */
export const isOfOneModel = ({ model, model_id: modelId }: Pick<BatchJob, "model" | "model_id">): boolean =>
  model !== null || modelId !== null;

/** Whether a refusal of one line applies to every other line of the job too, now and later. */
export function endsJob(code: string, admitted: boolean, ofOneModel: boolean): boolean {
  return !PASSES.has(code) && (!admitted || ENDS.has(code) || (ofOneModel && OF_MODEL.has(code)));
}

export const INTERRUPTED = {
  code: "gateway_interrupted",
  message: "A process of the gateway ended while this line was being answered: its call may or may not have reached the provider.",
};
const MAX_ATTEMPTS = 50;
const USUAL_WAIT_MS = 1_000;
const MAX_WAIT_MS = 20_000;

/** `attempt`: how often the line was started, counting from 1; `ofOneModel`: whether all lines of the job go to the same model. */
export function verdictOn(answer: BackgroundAnswer, attempt: number, ofOneModel: boolean, retryInterrupted: boolean): LineVerdict {
  const { errorType, status } = answer;
  const why = { code: errorType ?? "", message: answer.errorMessage ?? "" };
  if (answer.interrupted)
    return retryInterrupted
      ? { kind: "again", afterMs: 0, why: INTERRUPTED }
      : { kind: "done", result: { statusCode: null, requestId: answer.id, result: null, error: INTERRUPTED } };
  if (errorType !== null) {
    const ofProvider = PROVIDERS.has(errorType) || (errorType === "upstream_rejected" && status === 429);
    // The retry is refused for whatever ended the access, and the job then ends with that reason.
    if (errorType === "access_ended" && attempt < MAX_ATTEMPTS) return { kind: "again", afterMs: 0, why };
    if (PASSES.has(errorType) || (ofProvider && attempt < MAX_ATTEMPTS)) return { kind: "again", afterMs: waitOf(answer, attempt), why };
    if (endsJob(errorType, answer.admitted, ofOneModel && answer.refusal !== null)) return { kind: "end", why };
  }
  const result = oneLine(answer.body) ?? JSON.stringify(answer.body);
  return { kind: "done", result: { statusCode: status, requestId: answer.id, result, error: errorType === null ? null : why } };
}

function waitOf({ refusal }: BackgroundAnswer, attempt: number): number {
  const retryAfterMs = Number(refusal?.headers?.["retry-after"] ?? Number.NaN) * 1000;
  const wait = Number.isFinite(retryAfterMs) && retryAfterMs > 0 ? retryAfterMs : USUAL_WAIT_MS * 2 ** Math.min(attempt - 1, 6);
  return Math.min(wait, MAX_WAIT_MS);
}
