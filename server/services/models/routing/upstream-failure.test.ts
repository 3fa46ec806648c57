import { describe, expect, test } from "bun:test";
import type { WholeAnswer } from "../../../road/answer.ts";
import { failureOfStatus, retryAfterMs } from "./upstream-failure.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const passed = (status: number): WholeAnswer => ({
  kind: "whole",
  status,
  headers: {},
  body: new Uint8Array(0),
  usage: null,
  failure: `the provider answered ${status}`,
});
const failure = (status: number, text = "", headers: Record<string, string> = {}) =>
  failureOfStatus(passed(status), new Headers(headers), text, NOW);

describe("a provider's error status", () => {
  test.each([
    [500, "upstream_error", "anywhere"],
    [502, "upstream_error", "anywhere"],
    [503, "upstream_overloaded", "anywhere"],
    [529, "upstream_overloaded", "anywhere"],
    [408, "upstream_timeout", "anywhere"],
    [401, "upstream_auth_failed", "elsewhere"],
    [402, "upstream_quota_exhausted", "elsewhere"],
    [429, "upstream_rate_limited", "elsewhere"],
    [400, "upstream_rejected", "nowhere"],
    [404, "upstream_rejected", "nowhere"],
    [413, "upstream_rejected", "nowhere"],
    [422, "upstream_rejected", "nowhere"],
  ] as const)("%d means %s, and the call is retried %s", (status, outcome, again) => {
    expect(failure(status)).toMatchObject({ outcome, again });
  });

  test("429 with a retry-after is retried after that time, and the member is left alone until then", () => {
    expect(failure(429, "", { "retry-after": "3" })).toMatchObject({ again: "anywhere", coolMs: 3_000 });
  });

  test.each([408, 500, 503, 529])("%d passes on the provider's retry headers", (status) => {
    const headers = { "retry-after": "1", "retry-after-ms": "120" };
    expect(failure(status, "", headers)).toMatchObject({ answer: { headers } });
  });

  test.each([429, 503])(
    "%d with a wait in milliseconds only gets a retry-after in seconds too, for clients that read only that",
    (status) => {
      expect(failure(status, "", { "retry-after-ms": "1200.5" })).toMatchObject({
        coolMs: 1200.5,
        answer: { headers: { "retry-after": "2" } },
      });
    },
  );

  test.each([503, 529])("%d tells clients to retry, unless the provider says otherwise", (status) => {
    expect(failure(status)).toMatchObject({ answer: { headers: { "x-should-retry": "true" } } });
    expect(failure(status, "", { "x-should-retry": "false" })).toMatchObject({ answer: { headers: { "x-should-retry": "false" } } });
  });

  test.each([
    '{"error":{"message":"Project `proj_1` does not have access to model `gpt-5.4`","code":"model_not_found"}}',
    '{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}',
    `{"message":"You don't have access to the model with the specified model ID."}`,
    `{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p' (or it may not exist)."}}`,
  ])("403 about the model is not taken for a credential problem: %s", (text) => {
    expect(failure(403, text)).toMatchObject({ outcome: "upstream_model_denied", again: "elsewhere" });
  });

  test.each([
    "",
    '{"message":"The security token included in the request is invalid."}',
    '{"error":{"status":"PERMISSION_DENIED","message":"Method doesn\'t allow unregistered callers. Please use an API key to call models."}}',
    '{"error":{"message":"Your API key was reported as leaked. No model can be used with it."}}',
  ])("403 about the credential is taken for one: %s", (text) => {
    expect(failure(403, text)).toMatchObject({ outcome: "upstream_auth_failed" });
  });

  test("of an account without credit is not taken for a busy provider", () => {
    expect(failure(429, '{"error":{"code":"insufficient_quota"}}', { "retry-after": "3" })).toMatchObject({
      outcome: "upstream_quota_exhausted",
      again: "elsewhere",
    });
    expect(failure(400, '{"error":{"message":"Your credit balance is too low"}}')).toMatchObject({
      outcome: "upstream_quota_exhausted",
      again: "elsewhere",
    });
  });

  test("429 about credit tells clients not to retry, unless the provider says otherwise", () => {
    const text = '{"error":{"code":"insufficient_quota"}}';
    expect(failure(429, text)).toMatchObject({ answer: { status: 429, headers: { "x-should-retry": "false" } } });
    const retrying = { ...passed(429), headers: { "x-should-retry": "true" } };
    expect(failureOfStatus(retrying, new Headers(), text, NOW)).toMatchObject({ answer: { headers: { "x-should-retry": "true" } } });
    // Busy providers are retried.
    expect(failure(429, '{"error":{"code":"rate_limit_exceeded"}}')).not.toMatchObject({
      answer: { headers: { "x-should-retry": "false" } },
    });
  });

  test.each([
    [400, '{"error":{"code":"billing_hard_limit_reached","message":"Billing hard limit has been reached"}}'],
    [400, '{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}'],
    [429, '{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}'],
    [429, '{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":null}}'],
  ])("%d about credit is recognised: %s", (status, text) => {
    expect(failure(status, text)).toMatchObject({ outcome: "upstream_quota_exhausted", again: "elsewhere" });
  });

  // Otherwise one caller's text could make all calls avoid the member for a minute.
  test.each([
    `{"error":{"message":"Invalid schema for function 'get_billing': schema must be an object","code":"invalid_function_parameters"}}`,
    '{"error":{"message":"Unknown tool \\"usage limits\\"; \\"code\\":\\"insufficient_quota\\"","type":"invalid_request_error"}}',
    '{"error":{"message":"messages.0: unexpected \\"reason\\": \\"API_KEY_INVALID\\""}}',
  ])("400 whose message mentions credit or keys is only a rejected request: %s", (text) => {
    expect(failure(400, text)).toMatchObject({ outcome: "upstream_rejected", again: "nowhere", coolMs: null });
  });

  // Otherwise one caller's refused content would keep all others away from the member.
  test.each([
    '{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO"}',
    '{"error":{"message":"openai/gpt-4 requires moderation on OpenAI. Your input was flagged for \\"violence\\". No credits were charged.","code":403}}',
    '{"error":{"code":403,"message":"Moderated","metadata":{"reasons":["violence"],"flagged_input":"...","provider_name":"OpenAI","model_slug":"gpt-4"}}}',
    '{"error":{"code":403,"message":"Blocked","metadata":{"error_type":"content_policy_violation"}}}',
  ])("403 about the content is about neither key nor model: %s", (text) => {
    expect(failure(403, text)).toMatchObject({ outcome: "upstream_rejected", answer: { status: 403 }, again: "nowhere", coolMs: null });
  });

  test("429 of Google about a limit per minute is a rate limit, with the time to retry", () => {
    const text = JSON.stringify({
      error: {
        code: 429,
        message: "You exceeded your current quota, please check your plan and billing details.",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "33.4s" }],
      },
    });
    expect(failure(429, text)).toMatchObject({
      ...{ outcome: "upstream_rate_limited", again: "anywhere", coolMs: 33_400 },
      answer: { headers: { "retry-after": "34" } },
    });
    expect(failure(503, text)).toMatchObject({ answer: { headers: { "retry-after": "34" } } });
  });

  test("400 of Google about an invalid API key is a credential problem of the gateway", () => {
    const text = JSON.stringify({ error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } });
    expect(failure(400, text)).toMatchObject({ outcome: "upstream_auth_failed", answer: { code: "upstream_auth_failed" } });
  });

  test.each([
    '{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","code":"model_not_found"}}',
    '{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}',
    '{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}',
    '{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}',
  ])("404 about a missing model is retried at other members: %s", (text) => {
    expect(failure(404, text)).toMatchObject({ outcome: "upstream_model_missing", again: "elsewhere", answer: { kind: "whole" } });
  });

  test("404 about anything else is not retried", () => {
    expect(failure(404, '{"error":{"message":"No such File object: model_file"}}')).toMatchObject({ again: "nowhere" });
  });

  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:09 GMT" }, 9_000],
    [{ "retry-after": "7", "retry-after-ms": "120" }, 120],
    [{ "retry-after": "999999999" }, 3_600_000],
    [{ "retry-after": "soon" }, null],
    [{}, null],
  ])("with the headers %j means a wait of %p ms", (headers, ms) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), NOW)).toBe(ms);
  });
});
