import type { GuardrailConfig, GuardrailSurface, GuardrailTrialResult } from "@gatehouse/contracts/guardrails";
import type { GuardrailAction } from "./text/finding.ts";
import { GivenPlaceholders } from "./restoring/given-placeholders.ts";
import { restoresAt } from "./restoring/restorable-input.ts";
import { redactText } from "./redact.ts";
import { guardOfEntries } from "./surface-guard.ts";

const WEIGHT: readonly (GuardrailAction | "none")[] = ["none", "warn", "redact", "block"];

/** Applies a configuration to a text on a surface, without a call. */
export function tryGuardrail(config: GuardrailConfig, surface: GuardrailSurface, text: string): GuardrailTrialResult {
  const surfaces = new Set(Object.entries(config.surfaces).flatMap(([name, on]) => (on ? [name as GuardrailSurface] : [])));
  const guard = guardOfEntries(
    [
      {
        id: config.id,
        name: config.name,
        version: `${config.id} ${Date.parse(config.updated_at)}`,
        groupIds: null,
        surfaces,
        builtin: config.builtin,
        engines: [],
      },
    ],
    surface,
  );
  const engines = config.providers
    .filter(
      (engine) => engine.enabled !== false && surfaces.has(surface) && (engine.surfaces === undefined || engine.surfaces.includes(surface)),
    )
    .map(({ provider }) => provider);
  if (guard === null) return { action: "none", text, findings: [], engines };
  const guarded = redactText(guard.guard, text, restoresAt(guard) ? new GivenPlaceholders().give : null);
  const findings = guarded.findings.map(({ check, category, action, start, end, score }) => ({
    check,
    category,
    action,
    start,
    end,
    score,
  }));
  const action = findings.reduce<GuardrailAction | "none">(
    (most, finding) => (WEIGHT.indexOf(finding.action) > WEIGHT.indexOf(most) ? finding.action : most),
    "none",
  );
  return { action, text: guarded.blocked === null ? guarded.text : null, findings, engines };
}
