import { ERRORS, type ErrorCode } from "../../kernel/errors.ts";
import { microsFromUsd } from "../../kernel/money.ts";
import { abortReason, type Call } from "../../road/call.ts";
import type { FailedLine, LineOutcome, PausedJob } from "../../directory/batch/line-queue.ts";

/** What becomes of a line once its call has ended. */
export type LineEnd =
  | { readonly kind: "done"; readonly result: LineOutcome }
  /** It is tried again; with `pause` its job waits first. */
  | { readonly kind: "again"; readonly pause: PausedJob | null }
  /** Whoever the job is carried out for is let in no more: it ends. */
  | { readonly kind: "end_job"; readonly error: FailedLine; readonly result: LineOutcome };

/** Refusals that say wait, and nothing of the line. */
const WAITS: ReadonlySet<string> = new Set<ErrorCode>([
  "usage_limit_reached",
  "rate_limit_exceeded",
  "limits_unavailable",
  "directory_unavailable",
  "audit_unavailable",
]);
/** Refusals of the caller, and not of what the line asks. */
const OF_THE_CALLER: ReadonlySet<string> = new Set([
  "inactive_user",
  "group_not_allowed",
  "no_resource_group",
  "resource_group_unknown",
  "tenant_unknown",
  "tenant_disabled",
  "ai_system_suspended",
  "access_ended",
]);
const MOST_TRIES = 4;
const LONGEST_WAIT_MS = 3_600_000;

/** A line's answer, as its call was given it. */
export interface LineAnswer {
  readonly call: Call;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** In JSON a line break stands between values only. */
const onOneLine = (json: string) => json.replaceAll(/[\r\n]+/g, " ");

function asJson(body: string): string {
  try {
    JSON.parse(body);
    return onOneLine(body);
  } catch {
    return JSON.stringify(body);
  }
}

export function resultOf({ call, status, body }: LineAnswer): LineOutcome {
  const { row } = call;
  const failed = status >= 400;
  return {
    outcome: failed ? "failed" : "completed",
    requestId: call.id,
    statusCode: status,
    response: asJson(body),
    error: failed ? { code: row.error_type ?? "failed", message: row.error_message ?? "The line could not be carried out." } : null,
    costMicros: row.llm_estimated_cost_usd == null ? 0 : microsFromUsd(row.llm_estimated_cost_usd),
    promptTokens: row.llm_prompt_tokens ?? 0,
    completionTokens: row.llm_completion_tokens ?? 0,
  };
}

/** A line that has no answer. */
export function unanswered(outcome: LineOutcome["outcome"], error: FailedLine, requestId: string | null = null): LineOutcome {
  return { outcome, requestId, statusCode: null, response: null, error, costMicros: 0, promptTokens: 0, completionTokens: 0 };
}

export const INTERRUPTED: FailedLine = {
  code: "gateway_interrupted",
  message:
    "The gateway stopped while this line was carried out, and nobody can say whether the provider has. Lines of jobs with retry_interrupted are tried again.",
};

function waitMs(headers: Headers, usualMs: number): number {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(LONGEST_WAIT_MS, Math.max(1_000, seconds * 1_000)) : usualMs;
}

/** `attempt`: how often the line was begun, this time included. */
export function endOf(answer: LineAnswer, attempt: number, retryInterrupted: boolean, now: number): LineEnd {
  const { call, status, headers } = answer;
  const code = call.row.error_type ?? null;
  const result = resultOf(answer);
  if (code === null) return { kind: "done", result };
  const message = call.row.error_message ?? "";
  const pause = (ms: number): PausedJob => ({ code, message, until: new Date(now + ms).toISOString() });
  if (abortReason(call) === "gateway_interrupted") {
    // What never left can be sent again without harm.
    if (call.row.target_url == null || retryInterrupted) return { kind: "again", pause: null };
    return { kind: "done", result: unanswered("failed", INTERRUPTED, call.id) };
  }
  if (WAITS.has(code)) return { kind: "again", pause: pause(waitMs(headers, 5_000)) };
  if (OF_THE_CALLER.has(code) || code.startsWith("credential_")) return { kind: "end_job", error: { code, message }, result };
  const mayHelp = status === 429 || (status >= 500 && (!Object.hasOwn(ERRORS, code) || ERRORS[code as ErrorCode].retry));
  if (mayHelp && attempt < MOST_TRIES)
    return { kind: "again", pause: status === 429 ? pause(waitMs(headers, 1_000 * 2 ** attempt)) : null };
  return { kind: "done", result };
}
