import type { Call } from "../../road/call.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import { GuardRun } from "./guard-run.ts";
import { surfaceGuard } from "./surface-guard.ts";
import { guardedAt, surfaceOf } from "../../road/request/content-surface.ts";

/** A run of the guardrails that apply to the call in one direction; null if there are none. */
export function guardRunOf(call: Call, direction: "input" | "output"): GuardRun | null {
  const { scope, audit } = call;
  const surface = scope === null || scope.tenant.guardrails.length === 0 ? null : surfaceOf(audit.proxySubtype, direction);
  const guard = scope === null || surface === null ? null : surfaceGuard(scope, guardedAt(audit.proxySubtype, surface));
  return guard === null ? null : new GuardRun(guard, contentWorkOf(call));
}
