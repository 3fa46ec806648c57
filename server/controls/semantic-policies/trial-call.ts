import type { SemanticPolicy } from "@gatehouse/contracts/semantic-policies";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Call } from "../../road/call.ts";
import { unrecordedCall } from "../../road/own-calls/unrecorded-call.ts";

/** A trial always waits for its verdict, whatever the policy's mode. */
export function trialPolicy(policy: SemanticPolicy): SemanticPolicyEntry {
  return {
    id: policy.id,
    name: policy.name,
    constraintText: policy.constraint_text,
    action: policy.action,
    mode: "enforce",
    surfaces: new Set(policy.surfaces),
    judgeModelId: policy.judge_model_id,
    onFailure: policy.on_judge_failure,
    timeoutMs: policy.timeout_seconds * 1000,
    groupIds: null,
  };
}

/** The parent of a judge's call in a trial: it supplies the budget, and the judge's row records the trial. */
export const trialCall = (scope: GroupScope, correlation: string, clock: Clock): Call =>
  unrecordedCall(scope, { path: "/semantic-policies", proxySubtype: "semantic_policy_judge", correlation }, clock);
