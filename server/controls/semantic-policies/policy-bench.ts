import type { SemanticPolicy, SemanticPolicyTrial, SemanticPolicyTrialResult } from "@gatehouse/contracts/semantic-policies";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { invalidFields } from "../../kernel/errors.ts";
import type { JudgeQuestion } from "./judge-question.ts";
import type { Judged } from "./judge.ts";
import { trialCall, trialPolicy } from "./trial-call.ts";

/** Tries a policy's judge on a text, exactly as for a call. Throws `invalid_body` if no group can pay for it. */
export type PolicyBench = (policy: SemanticPolicy, trial: SemanticPolicyTrial) => Promise<SemanticPolicyTrialResult>;

interface JudgingRoad {
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly judge: (question: JudgeQuestion) => Promise<Judged>;
  readonly clock: Clock;
}

/** `road`: null if this process serves no calls and so cannot ask a model. */
export function policyBench(road: JudgingRoad | null): PolicyBench {
  return async (policy, { text, surface = "chat_input", constraint_text: constraintText, resource_group_id: named }) => {
    const groupId = named ?? policy.resource_group_ids?.[0];
    const unpaid = (message: string) => invalidFields("invalid_body", [{ field: "resource_group_id", message }]);
    if (groupId === undefined) throw unpaid("is required: the policy holds for every group, and one of them pays for the judge");
    if (road === null) return result(policy, { kind: "failed", reason: NO_CALLS, cached: true }, 0);
    const scope = await road.snapshots.scope(policy.tenant_id, groupId);
    if (scope === null) throw unpaid("names no resource group of this tenant");
    const startedAt = performance.now();
    const tried = trialPolicy({ ...policy, constraint_text: constraintText ?? policy.constraint_text });
    const verdict = await road.judge({ call: trialCall(scope, policy.id, road.clock), policy: tried, surface, text });
    return result(policy, verdict, Math.round(performance.now() - startedAt));
  };
}

const NO_CALLS = "This process serves no calls, and so asks no model; another one may.";

function result(policy: SemanticPolicy, { kind, reason, cached }: Judged, durationMs: number): SemanticPolicyTrialResult {
  const wouldStop = kind === "failed" ? policy.on_judge_failure === "block" : policy.action === "block";
  const action = kind === "compliant" || policy.mode === "shadow" ? "none" : wouldStop ? "block" : kind === "failed" ? "none" : "warn";
  return { verdict: kind, reason, action, from_memory: cached, duration_ms: durationMs };
}
