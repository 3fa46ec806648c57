import { GuardRun } from "../../../server/controls/guardrails/guard-run.ts";
import type { SurfaceGuard } from "../../../server/controls/guardrails/surface-guard.ts";
import { compileTextGuard, type GuardSettings } from "../../../server/controls/guardrails/text-guard.ts";

/** The guard of chat answers under these settings. */
export function answerGuardOf(settings: GuardSettings): SurfaceGuard {
  const guard = compileTextGuard(settings);
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  const enforces = guard.rules.some(({ action }) => action !== "warn");
  return { surface: "chat_output", guard, trusted: guard, engines: [], enforces, version: "" };
}

export const answerGuardRun = (settings: GuardSettings): GuardRun => new GuardRun(answerGuardOf(settings));
