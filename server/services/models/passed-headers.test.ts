import { describe, expect, test } from "bun:test";
import { returnedHeaders } from "./passed-headers.ts";

const given = (headers: Record<string, string>, passResponseHeaders: string[] = []) =>
  returnedHeaders(new Headers(headers), { provider: { passResponseHeaders } } as never);

describe("response headers of a provider", () => {
  test.each<Record<string, string>>([
    { "retry-after": "7" },
    { "retry-after": "0.5" },
    { "retry-after": "Sat, 21 Nov 2026 12:00:09 GMT" },
    { "retry-after-ms": "120" },
    { "x-should-retry": "false", "openai-version": "2020-10-01", "x-ratelimit-reset-requests": "6m0s" },
  ])("that clients rely on are passed on: %j", (headers) => expect(given(headers)).toEqual(headers));

  test.each<Record<string, string>>([
    { "retry-after": "1e308" },
    { "retry-after": "99999999999999" },
    { "retry-after": "-5" },
    { "retry-after": "soon" },
    { "retry-after-ms": "-5" },
    { "retry-after-ms": "1e9" },
    { "x-should-retry": "true, false" },
    { "openai-version": "v".repeat(2_001) },
    { "set-cookie": "a=b", location: "http://169.254.169.254/", "x-gw-run-id": "r", "content-security-policy": "x" },
  ])("with invalid values or unknown names are dropped: %j", (headers) => expect(given(headers)).toEqual({}));

  test("configured by an administrator pass up to the maximum length", () => {
    expect(given({ "x-own": "1", "x-owned": "o".repeat(2_001) }, ["x-own", "x-owned"])).toEqual({ "x-own": "1" });
  });
});
