import { describe, expect, test } from "bun:test";
import type { WholeAnswer } from "../../road/answer.ts";
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

describe("what a provider's status means", () => {
  test.each([
    [500, "upstream_error", "anywhere"],
    [503, "upstream_error", "anywhere"],
    [529, "upstream_error", "anywhere"],
    [408, "upstream_timeout", "anywhere"],
    [401, "upstream_auth_failed", "elsewhere"],
    [402, "upstream_quota_exhausted", "elsewhere"],
    [429, "upstream_rate_limited", "elsewhere"],
    [400, "upstream_rejected", "nowhere"],
    [404, "upstream_rejected", "nowhere"],
    [413, "upstream_rejected", "nowhere"],
    [422, "upstream_rejected", "nowhere"],
  ] as const)("%d: %s, tried again %s", (status, outcome, again) => {
    expect(failure(status)).toMatchObject({ outcome, again });
  });

  test("a busy provider that says for how long may be asked again after that, and is left alone until then", () => {
    expect(failure(429, "", { "retry-after": "3" })).toMatchObject({ again: "anywhere", coolMs: 3_000 });
  });

  test.each([408, 500, 503, 529])("%d passes on when the provider wants to be asked again", (status) => {
    const headers = { "retry-after": "1", "retry-after-ms": "120" };
    expect(failure(status, "", headers)).toMatchObject({ answer: { headers } });
  });

  test("an account without credit is no busy provider", () => {
    expect(failure(429, '{"error":{"code":"insufficient_quota"}}', { "retry-after": "3" })).toMatchObject({
      outcome: "upstream_quota_exhausted",
      again: "elsewhere",
    });
    expect(failure(400, '{"error":{"message":"Your credit balance is too low"}}')).toMatchObject({
      outcome: "upstream_quota_exhausted",
      again: "elsewhere",
    });
  });

  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:09 GMT" }, 9_000],
    [{ "retry-after": "7", "retry-after-ms": "120" }, 120],
    [{ "retry-after": "999999999" }, 3_600_000],
    [{ "retry-after": "soon" }, null],
    [{}, null],
  ])("%j is %p ms", (headers, ms) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>), NOW)).toBe(ms);
  });
});
