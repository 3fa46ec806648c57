import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { type SemanticPolicyEntry, semanticPoliciesOf } from "../../directory/semantic-policies/policy-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { abortReason, type Call, isAbandoned } from "../../road/call.ts";
import { guardedAt, SURFACES } from "../../road/request/content-surface.ts";
import { warnCaller } from "../../road/policy/policy-warnings.ts";
import type { JudgeQuestion } from "./judge-question.ts";
import { Judge, type Judged, type JudgeParts, recordedVerdict } from "./judge.ts";

export interface EnforcementParts extends JudgeParts {
  readonly log: Log;
}

export type Policies = readonly SemanticPolicyEntry[];

/** Has texts judged, records the verdicts on rows, warns callers, and decides which calls to stop. */
export class SemanticEnforcement {
  private readonly judge: Judge;
  private readonly log: Log;
  private readonly bySurface = new WeakMap<GroupScope, Map<string, Policies>>();

  constructor(parts: EnforcementParts) {
    this.judge = new Judge(parts);
    this.log = parts.log;
  }

  /** The policies that apply to the call at `surface`; none if `surface` is null. */
  policiesOf({ scope, audit }: Call, surface: GuardrailSurface | null): Policies {
    if (scope === null || surface === null || scope.tenant.semanticPolicies.length === 0) return [];
    let known = this.bySurface.get(scope);
    if (known === undefined) this.bySurface.set(scope, (known = new Map()));
    const places = guardedAt(audit.proxySubtype, surface);
    const key = places.join(" ");
    let found = known.get(key);
    if (found === undefined)
      known.set(key, (found = semanticPoliciesOf(scope).filter(({ surfaces }) => places.some((place) => surfaces.has(place)))));
    return found;
  }

  /** A judge's verdict on a text, cached if possible. */
  verdictOf(question: JudgeQuestion): Promise<Judged> {
    return this.judge.judge(question);
  }

  /** Judges a text by all policies at once; returns a refusal if one of them stops the call. `text` is null if it cannot be read. */
  async apply(call: Call, policies: Policies, surface: GuardrailSurface, text: string | null): Promise<Refusal | null> {
    const enforced = policies.filter(({ mode }) => mode === "enforce");
    if (text !== null) this.watchAll(call, policies, surface, text);
    if (text !== null && text.trim() === "") return null;
    const judged = await Promise.all(
      enforced.map(async (policy) => ({
        policy,
        verdict: text === null ? UNREADABLE : await this.judge.judge({ call, policy, surface, text }),
      })),
    );
    // The caller has gone and the judges were aborted; the row records that, but nothing about policies without a verdict.
    const why = abortReason(call);
    if (isAbandoned(why)) return refuse("upstream_interrupted");
    let stopped: Refusal | null = null;
    for (const { policy, verdict } of judged) stopped = this.conclude(call, policy, surface, verdict) ?? stopped;
    return stopped;
  }

  /** Records an enforced policy's verdict on the row and warns the caller; true if it stops what was judged. */
  weigh(call: Call, policy: SemanticPolicyEntry, surface: GuardrailSurface, verdict: Judged): boolean {
    if (verdict.kind === "compliant") return false;
    note(call, policy, surface, verdict);
    call.answerReusable = false;
    if (verdict.kind === "failed" ? policy.onFailure === "block" : policy.action === "block") return true;
    const { row } = call;
    if (verdict.kind === "failed") row.guardrails_degraded = true;
    else {
      row.semantic_policy_id ??= policy.id;
      warnCaller(call, policy.name);
    }
    return false;
  }

  /** As `weigh`, but returns the refusal. The first policy that stops the call is named on the row. */
  conclude(call: Call, policy: SemanticPolicyEntry, surface: GuardrailSurface, verdict: Judged): Refusal | null {
    if (!this.weigh(call, policy, surface, verdict)) return null;
    const { row } = call;
    if (row.proxy_subtype !== "semantic_policy_block") {
      row.proxy_subtype = "semantic_policy_block";
      row.semantic_policy_id = policy.id;
    }
    const message = verdict.kind === "failed" ? "A semantic policy could not be judged, and lets nothing pass unjudged." : undefined;
    return refuse("semantic_policy_block", message, {
      extra: { policy: policy.name, direction: SURFACES[surface].direction },
      ...(verdict.reason === null ? {} : { reason: verdict.reason }),
    });
  }

  /** Has the shadow policies among these judge a text alongside the call. */
  watchAll(call: Call, policies: Policies, surface: GuardrailSurface, text: string): void {
    if (text.trim() === "") return;
    for (const policy of policies)
      if (policy.mode === "shadow" && !this.recalled({ call, policy, surface, text })) this.watch({ call, policy, surface, text });
  }

  /** Judges alongside the call, which may have ended by then; the row of the judge's own call records the verdict. */
  watch(question: JudgeQuestion): void {
    const { call, policy, surface } = question;
    this.judge
      .judge(question)
      .then((verdict) => {
        // A cached verdict has no judge's row to record it.
        if (verdict.cached && verdict.kind !== "compliant" && this.open(call)) note(call, policy, surface, verdict);
      })
      .catch((error: unknown) =>
        this.log.warn("semantic_policy_failed", { call_id: call.id, error: error instanceof Error ? error : new Error(String(error)) }),
      );
  }

  /** Records a cached verdict on the call's own row; false if none is cached. */
  recalled(question: JudgeQuestion): boolean {
    const verdict = this.judge.known(question);
    if (verdict !== null && verdict.kind !== "compliant") note(question.call, question.policy, question.surface, verdict);
    return verdict !== null;
  }

  /** Whether the call's row is still open for changes. */
  private open({ row }: Call): boolean {
    return row.http_status_code === undefined;
  }
}

const UNREADABLE: Judged = { kind: "failed", reason: "the text cannot be read", cached: true };

/** A tool server may send any number of messages in one call, each of which may be judged. */
const MAX_NOTED = 100;

function note({ row }: Call, policy: SemanticPolicyEntry, surface: GuardrailSurface, verdict: Judged): void {
  const known = row.custom_metadata as { semantic_policies?: unknown[] } | null | undefined;
  const noted = known?.semantic_policies ?? [];
  if (noted.length >= MAX_NOTED) return;
  row.custom_metadata = { ...known, semantic_policies: [...noted, recordedVerdict(policy, SURFACES[surface].direction, verdict)] };
}
