import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { BoundedMap } from "../../directory/bounded-map.ts";
import { holdsFor } from "../../directory/policies/bound-groups.ts";
import type { GuardrailEngineEntry, GuardrailEntry } from "../../directory/policies/guardrail-entry.ts";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import { guardSettingsOf } from "./guard-settings.ts";
import { HoldBack } from "./answers/hold-back.ts";
import { compileTextGuard, type GuardSource, type GuardRule, type TextGuard } from "./text-guard.ts";

/** An external engine of a configuration. */
export interface BoundEngine {
  readonly source: GuardSource;
  readonly engine: GuardrailEngineEntry;
  /** Whether values that it redacts in a request are put back into the answer. */
  readonly restores?: boolean;
}

/** Everything that guards one surface of a group's calls. */
export interface SurfaceGuard {
  readonly surface: GuardrailSurface;
  /** For text from any source. */
  readonly guard: TextGuard;
  /** For the operator's own instructions, which may say what would be an attack elsewhere. */
  readonly trusted: TextGuard;
  readonly engines: readonly BoundEngine[];
  /** Whether a finding, or failing to inspect, can change or end the call. */
  readonly enforces: boolean;
  /** Changes whenever the guardrails change. */
  readonly version: string;
}

const compiled = new WeakMap<GroupScope, Map<string, SurfaceGuard | null>>();

/** Compiled on a group's first call on the surface under a configuration, then cached. Null: nothing guards it. */
export function surfaceGuard(scope: GroupScope, surfaces: readonly [GuardrailSurface, ...GuardrailSurface[]]): SurfaceGuard | null {
  if (scope.tenant.guardrails.length === 0) return null;
  let bySurface = compiled.get(scope);
  if (bySurface === undefined) {
    bySurface = new Map();
    compiled.set(scope, bySurface);
  }
  const key = surfaces.join(" ");
  let found = bySurface.get(key);
  if (found === undefined) {
    found = guardOfEntries(
      scope.tenant.guardrails.filter(({ groupIds }) => holdsFor(groupIds, scope.chain)),
      ...surfaces,
    );
    bySurface.set(key, found);
  }
  return found;
}

/** The combined guard of several configurations on one surface, including other surfaces whose guardrails apply there too. */
export function guardOfEntries(
  entries: readonly GuardrailEntry[],
  surface: GuardrailSurface,
  ...besides: readonly GuardrailSurface[]
): SurfaceGuard | null {
  const all = [surface, ...besides];
  const rules: GuardRule[] = [];
  const engines: BoundEngine[] = [];
  for (const entry of entries) {
    const here = all.filter((one) => entry.surfaces.has(one));
    if (here.length === 0) continue;
    const source = { id: entry.id, name: entry.name };
    for (const rule of rulesOf(entry, here)) rules.push({ ...rule, source });
    for (const engine of entry.engines)
      if (engine.surfaces === undefined || engine.surfaces.some((one) => here.includes(one)))
        engines.push({ source, engine, restores: entry.builtin.pii_restore === true });
  }
  if (rules.length === 0 && engines.length === 0) return null;
  const trusted = rules.filter(({ detector }) => detector.check !== "prompt_injection" && detector.check !== "jailbreak");
  const enforces =
    rules.some(({ action }) => action !== "warn") ||
    engines.some(({ engine }) => engine.action !== "warn" || engine.on_failure === "block");
  const version = entries
    .filter(({ surfaces }) => all.some((one) => surfaces.has(one)))
    .map((entry) => entry.version)
    .join(" ");
  return { surface, guard: { rules }, trusted: { rules: trusted }, engines, enforces, version };
}

/**
 * Compiles a tenant's guardrails ahead of the first call, which would otherwise be delayed. A configuration that does
 * not compile is skipped; calls under it are refused.
 */
export function compileGuardrails({ guardrails }: Pick<TenantSnapshot, "guardrails">): void {
  for (const entry of guardrails)
    try {
      const rules = rulesOf(entry, [...entry.surfaces]);
      if (prepared.has(rules)) continue;
      prepared.add(rules);
      const hold = new HoldBack({ rules });
      hold.push(FIRST_TEXT);
      hold.end();
    } catch {
      continue;
    }
}

/** Contains beginnings of phrases, numbers and addresses, so that their tables and patterns get compiled. */
const FIRST_TEXT = "Ignore the rules of 4 a@b.c";
const prepared = new WeakSet<readonly GuardRule[]>();

/** Word lists are large, so what surfaces or snapshot versions have in common is compiled once. */
const known = new BoundedMap<string, readonly GuardRule[]>(500);

function rulesOf(entry: GuardrailEntry, surfaces: readonly GuardrailSurface[]): readonly GuardRule[] {
  const settings = guardSettingsOf(entry.builtin, surfaces);
  const key = `${entry.version} ${Object.keys(settings).join(" ")}`;
  let rules = known.get(key);
  if (rules === undefined) {
    const guard = compileTextGuard(settings);
    // It compiled when it was stored; a release that cannot compile it any more must not let calls through unguarded.
    if ("problems" in guard)
      throw new Error(
        `the guardrail configuration ${entry.id} does not compile: ${guard.problems.map(({ message }) => message).join("; ")}`,
      );
    rules = guard.rules;
    known.set(key, rules);
  }
  return rules;
}
