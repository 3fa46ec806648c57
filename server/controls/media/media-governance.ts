import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { RequestControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { noteClamped } from "../../road/record/clamped.ts";
import type { MediaRequest } from "../../wire/media-request.ts";

interface Rule {
  /** Name of the rule in the group's policy document. */
  readonly name: string;
  readonly value: unknown;
}

const NO_RULES: readonly Rule[] = [];
const compiled = new WeakMap<GroupScope, ReadonlyMap<string, readonly Rule[]>>();

/** Applies the image, speech and audio rules of the group and its ancestors (interface 8.3) to requests. */
export const governedMedia: RequestControl = {
  name: "media_governance",
  decide(call, view) {
    const { media, target } = view;
    if (media === undefined || call.scope === null || target.kind !== "model") return PASS;
    for (const mode of target.modes) {
      for (const rule of rulesOf(call.scope, mode)) {
        const refusal = held(call, rule, media);
        if (refusal !== null) return refused(refusal);
      }
    }
    return PASS;
  },
};

/** The rules for a mode, indexed by mode once per compiled scope. */
function rulesOf(scope: GroupScope, mode: string): readonly Rule[] {
  let byMode = compiled.get(scope);
  if (byMode === undefined) {
    const sorted = new Map<string, Rule[]>();
    for (const [path, value] of scope.tenant.policies.effective(scope.groupId, "media_governance")) {
      const dot = path.indexOf(".");
      const of = path.slice(0, dot);
      const rules = sorted.get(of) ?? [];
      rules.push({ name: path.slice(dot + 1), value });
      sorted.set(of, rules);
    }
    byMode = sorted;
    compiled.set(scope, byMode);
  }
  return byMode.get(mode) ?? NO_RULES;
}

function held(call: Call, { name, value }: Rule, media: MediaRequest): Refusal | null {
  if (name.endsWith("_whitelist")) return chosen(call, name.slice(0, -"_whitelist".length), value as readonly string[], media);
  if (name === "speed_min") return measured(name, "speed", media, (speed) => (speed < (value as number) ? `at least ${value}` : null));
  if (name.startsWith("max_"))
    return measured(name, name.slice("max_".length), media, (measure) => (measure > (value as number) ? `at most ${value}` : null));
  return suppliedMediaRefusal(name, value, media);
}

function chosen(call: Call, name: string, allowed: readonly string[], { choices }: MediaRequest): Refusal | null {
  const choice = choices[name];
  // The operation has no such parameter: for example, a translation takes no language and an edit no style.
  if (choice === undefined) return null;
  const { field, value, choose, usual, same } = choice;
  if (value !== null && allowed.some((one) => one === value || same?.(one, value) === true)) return null;
  if (value === null && choose === undefined) return null;
  const first = usual !== undefined && allowed.includes(usual) ? usual : allowed[0];
  if (value !== null || choose == null || first === undefined)
    return rejected(field, allowed.length === 0 ? "may be nothing at all" : `must be one of ${allowed.join(", ")}`);
  choose(first);
  noteClamped(call, field);
  return null;
}

function measured(rule: string, name: string, { measures }: MediaRequest, problem: (value: number) => string | null): Refusal | null {
  const measure = measures[name];
  // Refuse if a rule cannot be enforced for this request; letting it pass would make the rule look kept.
  if (measure === undefined) return rejected(rule, "cannot be kept for such a request, and is set");
  if (measure.value === null) return rejected(measure.field, `does not tell what ${rule} bounds`);
  const words = problem(measure.value);
  return words === null ? null : rejected(measure.field, `must be ${words} (${rule})`);
}

function suppliedMediaRefusal(rule: string, value: unknown, { brings }: MediaRequest): Refusal | null {
  if (value !== true) return null;
  const one = brings[rule.slice("require_".length)];
  if (one === undefined) return rejected(rule, "cannot be kept for such a request, and is set");
  return one.there ? null : rejected(one.field, `must come along (${rule})`);
}

function rejected(field: string, words: string): Refusal {
  const message = `${words} in this resource group`;
  return refuse("parameter_rejected", undefined, { fields: [{ field, message }], reason: `${field} ${message}` });
}
