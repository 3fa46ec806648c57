import type { SemanticPolicy } from "@gatehouse/contracts/semantic-policies";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Call } from "../../road/call.ts";
import { openCall } from "../../road/record/open.ts";

/** It waits for its verdict, whatever its mode. */
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

/** What stands above the judge's call, whose row tells of the trial: whose budget it is. It is on no record itself. */
export function trialCall(scope: GroupScope, correlation: string, clock: Clock): Call {
  const call = openCall(
    { method: "POST", url: "http://gateway/semantic-policies", headers: new Headers() },
    "",
    { proxyType: "llm", proxySubtype: "semantic_policy_judge" },
    clock,
  );
  call.tenant = scope.tenant;
  call.scope = scope;
  call.row.tenant_id = scope.tenant.id;
  call.row.resource_group_id = scope.groupId;
  call.row.correlation_id = correlation;
  return call;
}
