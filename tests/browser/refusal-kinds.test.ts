import { expect, test } from "bun:test";
import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { refusalOf } from "../../web/portal/src/chat/ask.ts";

const kindOf = (status: number, code: string, error: unknown = "told") =>
  refusalOf(new ApiError(status, new Headers({ "x-request-id": "r1" }), { error, code }, "")).kind;

test("a provider's fault is not taken for a fault of the person or of the model chosen", () => {
  for (const code of ["upstream_error", "upstream_unreachable", "upstream_auth_failed", "upstream_model_denied", "no_healthy_member"])
    expect([code, kindOf(502, code)]).toEqual([code, "provider"]);
  expect(kindOf(503, "upstream_overloaded")).toBe("provider");
  expect(kindOf(404, "model_not_found")).toBe("model");
  expect(kindOf(403, "upstream_authorization_required")).toBe("other");
  expect(kindOf(429, "rate_limited")).toBe("limit");
  expect(kindOf(403, "guardrail_blocked")).toBe("policy");
});
