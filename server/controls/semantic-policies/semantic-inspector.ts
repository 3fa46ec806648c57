import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Refusal } from "../../kernel/errors.ts";
import { ACTION_PASSES, type Action, type ActionDecision, type ActionDefinition } from "../../road/action.ts";
import type { Call } from "../../road/call.ts";
import type { ActionControl } from "../../road/control.ts";
import type { Inspector } from "../../road/gates.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { digestOf } from "../../wire/mcp/tool-definitions.ts";
import type { Judged } from "./judge.ts";
import type { Policies, SemanticEnforcement } from "./semantic-enforcement.ts";

const REGISTRATION = "mcp_registration" as const;
/** Definitions judged concurrently. */
const AT_ONCE = 8;
const MAX_CACHED = 20_000;
const CACHE_MS = 3_600_000;

/** Applies semantic policies to what is sent to tool servers, to their answers and to their tool definitions. */
export class SemanticInspector implements Inspector, ActionControl {
  readonly name = "semantic policies";
  private readonly enforcement: SemanticEnforcement;
  private readonly clock: Clock;
  /** By policy and definition digest, so that a definition is not loaded again for each call of its tool. */
  private readonly kept = new BoundedMap<string, { readonly verdict: Judged; readonly until: number }>(MAX_CACHED);

  constructor(enforcement: SemanticEnforcement, clock: Clock) {
    this.enforcement = enforcement;
    this.clock = clock;
  }

  inspect(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    return this.apply(call, this.enforcement.policiesOf(call, surface), surface, slots);
  }

  inspectPiece(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    const enforced = this.enforcement.policiesOf(call, surface).filter(({ mode }) => mode === "enforce");
    return this.apply(call, enforced, surface, slots);
  }

  noteText(call: Call, surface: GuardrailSurface, text: string): void {
    this.enforcement.watchAll(call, this.enforcement.policiesOf(call, surface), surface, text);
  }

  private async apply(call: Call, policies: Policies, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    if (policies.length === 0) return null;
    const modelSlots = slots.filter(({ rulesOnly }) => rulesOnly !== true);
    return this.enforcement.apply(call, policies, surface, modelSlots.map(({ text }) => text).join("\n\n"));
  }

  inspects(call: Call, surface: GuardrailSurface): boolean {
    return this.enforcement.policiesOf(call, surface).length > 0;
  }

  enforces(call: Call, surface: GuardrailSurface): boolean {
    return this.enforcement.policiesOf(call, surface).some((policy) => canStop(policy));
  }

  judgesWhole(call: Call, surface: GuardrailSurface): boolean {
    return this.enforcement.policiesOf(call, surface).some(({ mode }) => mode === "enforce");
  }

  /** The definitions that no policy stops; null if that is all of them. */
  async offered(call: Call, definitions: readonly JsonValue[]): Promise<JsonValue[] | null> {
    const policies = this.enforcement.policiesOf(call, REGISTRATION);
    if (policies.length === 0) return null;
    const offered: JsonValue[] = [];
    for (let at = 0; at < definitions.length; at += AT_ONCE) {
      const some = definitions.slice(at, at + AT_ONCE);
      const verdicts = await Promise.all(some.map((one) => this.verdictsOn(call, policies, listed(one))));
      for (const [index, definition] of some.entries()) {
        const stopping = (verdicts[index] ?? []).filter(([policy, verdict]) => this.enforcement.weigh(call, policy, REGISTRATION, verdict));
        const [first] = stopping;
        if (first === undefined) offered.push(definition);
        else call.row.semantic_policy_id ??= first[0].id;
      }
    }
    return offered.length === definitions.length ? null : offered;
  }

  async before(call: Call, { definition }: Action): Promise<ActionDecision> {
    const policies = definition === null ? [] : this.enforcement.policiesOf(call, REGISTRATION);
    if (definition === null || policies.length === 0) return ACTION_PASSES;
    let refusal: Refusal | null = null;
    for (const [policy, verdict] of await this.verdictsOn(call, policies, definition))
      refusal = this.enforcement.conclude(call, policy, REGISTRATION, verdict) ?? refusal;
    return refusal === null ? ACTION_PASSES : { kind: "refuse", refusal };
  }

  /** Verdicts of the enforced policies; shadow policies judge alongside the call. */
  private async verdictsOn(
    call: Call,
    policies: Policies,
    { hash, load }: ActionDefinition,
  ): Promise<readonly (readonly [SemanticPolicyEntry, Judged])[]> {
    let loading: Promise<string | null> | undefined;
    const text = () => (loading ??= hash === null ? Promise.resolve(null) : load().then((one) => one && JSON.stringify(one)));
    const verdicts = policies.map(async (policy) => [policy, await this.verdictOn(call, policy, hash, text)] as const);
    return (await Promise.all(verdicts)).filter((one): one is readonly [SemanticPolicyEntry, Judged] => one[1] !== null);
  }

  private async verdictOn(
    call: Call,
    policy: SemanticPolicyEntry,
    hash: string | null,
    text: () => Promise<string | null>,
  ): Promise<Judged | null> {
    const tenant = call.scope?.tenant;
    const judge = policy.judgeModelId ?? tenant?.defaultJudgeModelId;
    const key = JSON.stringify([tenant?.id, policy.id, policy.constraintText, judge, hash]);
    const known = this.kept.get(key);
    const now = this.clock.now();
    if (known !== undefined && known.until > now) return known.verdict;
    const definition = await text();
    if (definition === null) return policy.mode === "enforce" ? UNKNOWN : null;
    const question = { call, policy, surface: REGISTRATION, text: definition };
    if (policy.mode === "shadow") {
      if (!this.enforcement.recalled(question)) this.enforcement.watch(question);
      return null;
    }
    const verdict = await this.enforcement.verdictOf(question);
    if (verdict.kind !== "failed") this.kept.set(key, { verdict: { ...verdict, cached: true }, until: now + CACHE_MS });
    return verdict;
  }
}

/** A definition from a list of tools. */
function listed(one: JsonValue): ActionDefinition {
  return isObject(one) ? { hash: digestOf(one), load: async () => one } : { hash: null, load: async () => null };
}

const UNKNOWN: Judged = { kind: "failed", reason: "the definition is not known; list the server's tools first", cached: true };

function canStop({ mode, action, onFailure }: SemanticPolicyEntry): boolean {
  return mode === "enforce" && (action === "block" || onFailure === "block");
}
