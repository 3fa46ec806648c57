import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { retryDelaySeconds } from "../../wire/gemini/fault.ts";
import { geminiRefusals } from "./refusals.ts";

test("a temporary refusal has its retry delay in the error details, where Google's clients look for it", () => {
  const refused = (headers?: Record<string, string>) => {
    const { body } = geminiRefusals.refusal(refuse("rate_limit_exceeded", undefined, headers && { headers }), {} as Call);
    return JSON.parse(body as string);
  };
  const limited = refused({ "retry-after": "30" });
  expect([limited.error.details[0], retryDelaySeconds(limited)]).toEqual([{ code: "rate_limit_exceeded" }, 30]);
  expect(refused().error.details).toEqual([{ code: "rate_limit_exceeded" }]);
});
