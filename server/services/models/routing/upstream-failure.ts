import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { isValidHeader } from "../passed-headers.ts";
import { retryDelaySeconds } from "../../../wire/gemini/fault.ts";
import { msOfRetryAfter } from "../../../wire/http/retry-after.ts";
import { type RefusedFor, refusedFor } from "../../../wire/refused-for.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";

/** Where a retry makes sense after an attempt failed. */
export type RetryScope = "anywhere" | "elsewhere" | "nowhere";

/** What a failed attempt means for the call and for the member. */
export interface Failure {
  /** The outcome of the attempt on the audit row. */
  readonly outcome: string;
  /** What the caller gets if no other attempt is made. */
  readonly answer: Answer | Refusal;
  readonly again: RetryScope;
  /** How long to stay away from the member, milliseconds; null if its failures are just counted. */
  readonly coolMs: number | null;
  /** Set if the request itself was refused in a way for which other members may be named. */
  readonly refusedFor?: RefusedFor | undefined;
}

/** An account that was refused or is out of credit will not recover within seconds. */
const ACCOUNT_COOL_MS = 60_000;
const MAX_COOL_MS = 3_600_000;

/*
 * Unescaped quotes come from the provider: in a caller's word that a message repeats, such as a tool name, they are escaped. Otherwise a
 * caller could take a member out for everybody by naming a tool `get_billing`.
 */
const QUOTA_CODE =
  /"(?:code|type|error_code|reason)"\s*:\s*"(?:insufficient_quota|billing_[a-z_]*|[a-z_]{0,100}_billing_[a-z_]*|enforced_spend_limit_reached)"/i;
const QUOTA_WORDS =
  /"message"\s*:\s*"you(?:r credit balance| have (?:reached|exceeded) your [^"\\]*usage limits?| exceeded your current quota)/i;
/** Google's code for a rejected key, which comes with status 400. */
const KEY_REFUSED = /"reason"\s*:\s*"API_KEY_[A-Z_]+"/;
const MODEL_MISSING =
  /"(?:code|type)"\s*:\s*"(?:model_not_found|DeploymentNotFound)"|"message"\s*:\s*"(?:the |publisher |could not resolve the foundation )?models?\b/i;

/** Vendors' messages about rejected keys or signatures. */
const ABOUT_CREDENTIAL =
  /unrecognizedclient|invalidsignature|signature|expiredtoken|security token|missingauthentication|invalidclienttoken|unregistered callers|api_key_|(invalid|not valid|expired|leaked|revoked|incorrect)[^.]{0,40}(key|token|credential)|(key|token|credential)[^.]{0,40}(invalid|not valid|expired|leaked|revoked|incorrect)/i;
/** About content: xAI and OpenRouter refuse it with the status that others use for a key. */
const ABOUT_CONTENT =
  /"(?:error|message)"\s*:\s*"(?:content violates usage guidelines|[^"\\]{0,300}\byour input was flagged)|"(?:code|type|error_type)"\s*:\s*"content_policy_violation"|"metadata"\s*:\s*\{\s*"reasons"\s*:\s*\[[^\]]{0,500}\]\s*,\s*"flagged_input"/i;
const ABOUT_MODEL = /\bmodels?\b|model_|\bdeployment|endpoints\.predict|specified resource/i;

/** Whether a 403 is about the requested model: the account is valid but may not use it. */
function isAboutModel(text: string): boolean {
  return ABOUT_MODEL.test(text) && !ABOUT_CREDENTIAL.test(text);
}

/** The Retry-After header (seconds or an HTTP date) as milliseconds from now; null if there is no valid one. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const precise = headers.get("retry-after-ms");
  if (precise !== null && /^\d+(?:\.\d+)?$/.test(precise)) return Math.min(Number(precise), MAX_COOL_MS);
  return msOfRetryAfter(headers, now, MAX_COOL_MS);
}

/** Google gives the delay in the body instead of a header. */
function retryDelayMs(text: string): number | null {
  if (!text.includes("RetryInfo")) return null;
  try {
    const seconds = retryDelaySeconds(JSON.parse(text));
    return seconds === null ? null : Math.min(seconds * 1000, MAX_COOL_MS);
  } catch {
    return null;
  }
}

/**
 * The failure for a refusal that originates in the gateway: the provider was unreachable or its answer unreadable. `told`: the error that it
 * reported within a stream.
 */
export function failureOfRefusal(refusal: Refusal, told: string | null = null): Failure {
  const permanent = refusal.code === "upstream_address_denied" || refusal.code === "upstream_auth_failed";
  const isDeclined = refusal.code === "picture_declined" || refusal.code === "speech_declined";
  return {
    outcome: refusal.code,
    answer: refusal,
    // A picture or text that one model declined is not tried at others, unless they are named for that.
    again: isDeclined ? "nowhere" : permanent ? "elsewhere" : "anywhere",
    coolMs: permanent ? ACCOUNT_COOL_MS : null,
    refusedFor: isDeclined ? "content_filter" : told === null ? undefined : (refusedFor(400, told.slice(0, 4096)) ?? undefined),
  };
}

/**
 * What an unsuccessful status means. `passed`: the provider's refusal in the caller's format; `text`: its body. A refusal of the request's
 * content ends the call without trying other members.
 */
export function failureOfStatus(passed: WholeAnswer, upstream: Headers, text: string, now: number): Failure {
  const { status } = passed;
  const reason = passed.failure ?? `the provider answered ${status}`;
  const reportedMs = retryAfterMs(upstream, now);
  const waitMs = reportedMs ?? retryDelayMs(text);
  if (status === 403 && ABOUT_CONTENT.test(text))
    return { outcome: "upstream_rejected", answer: passed, again: "nowhere", coolMs: null, refusedFor: "content_filter" };
  if (status === 403 && isAboutModel(text))
    return {
      outcome: "upstream_model_denied",
      answer: refuse("upstream_model_denied", undefined, { reason }),
      again: "elsewhere",
      coolMs: ACCOUNT_COOL_MS,
    };
  if (status === 401 || status === 403 || (status === 400 && KEY_REFUSED.test(text)))
    return {
      outcome: "upstream_auth_failed",
      answer: refuse("upstream_auth_failed", undefined, { reason }),
      again: "elsewhere",
      coolMs: ACCOUNT_COOL_MS,
    };
  if (status === 402 || ((status === 429 || status === 400) && isAboutQuota(text, reportedMs === null && waitMs !== null)))
    return {
      outcome: "upstream_quota_exhausted",
      // Official clients retry every 429 unless told not to, which is pointless when the account is out of credit.
      answer: status === 429 ? { ...passed, headers: { "x-should-retry": "false", ...passed.headers } } : passed,
      again: "elsewhere",
      coolMs: ACCOUNT_COOL_MS,
    };
  if (status === 404 && MODEL_MISSING.test(text))
    return { outcome: "upstream_model_missing", answer: passed, again: "elsewhere", coolMs: ACCOUNT_COOL_MS };
  const headers = {
    ...(!upstream.has("retry-after") && waitMs !== null && { "retry-after": String(Math.ceil(waitMs / 1000)) }),
    ...retryHints(upstream),
  };
  if (status === 408 || status === 504)
    return {
      outcome: "upstream_timeout",
      answer: refuse("upstream_timeout", undefined, { reason, headers }),
      again: "anywhere",
      coolMs: waitMs,
    };
  if (status === 429)
    return {
      outcome: "upstream_rate_limited",
      answer: { ...passed, headers: { ...headers, ...passed.headers } },
      again: waitMs === null ? "elsewhere" : "anywhere",
      coolMs: waitMs,
    };
  if (status === 409 || status === 425) return { outcome: "upstream_rejected", answer: passed, again: "anywhere", coolMs: waitMs };
  if (status >= 400 && status < 500)
    return {
      ...{ outcome: "upstream_rejected", answer: passed, again: "nowhere", coolMs: null },
      refusedFor: refusedFor(status, text) ?? undefined,
    };
  if (status === 503 || status === 529)
    return {
      outcome: "upstream_overloaded",
      answer: refuse("upstream_overloaded", undefined, {
        reason,
        headers: { "x-should-retry": "true", ...headers },
        upstreamStatus: status,
      }),
      again: "anywhere",
      coolMs: waitMs,
    };
  return {
    outcome: "upstream_error",
    answer: refuse("upstream_error", `The model provider failed (HTTP ${status}).`, { reason, headers }),
    again: "anywhere",
    coolMs: waitMs,
  };
}

/** Google also reports an exceeded quota for a limit per minute, but with a retry delay. */
function isAboutQuota(text: string, namesDelay: boolean): boolean {
  return QUOTA_CODE.test(text) || (QUOTA_WORDS.test(text) && !namesDelay);
}

/** The provider's retry headers that official clients act on. */
function retryHints(upstream: Headers): Record<string, string> {
  return Object.fromEntries(
    ["retry-after", "retry-after-ms", "x-should-retry"].flatMap((name) => {
      const value = upstream.get(name);
      return value === null || !isValidHeader(name, value) ? [] : [[name, value]];
    }),
  );
}
