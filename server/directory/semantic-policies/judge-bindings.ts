import { modelIdByName } from "../../store/models/models.ts";
import { groupsOnlyJudgedBy } from "../../store/policies/semantic-policies.ts";
import { tenantStore } from "../../store/tenants/tenants.ts";
import type { Write } from "../writes/write.ts";

/** The parts of a policy that determine which groups get its judge. */
export interface JudgingPolicy {
  readonly enabled: boolean;
  readonly judge_model_id: string | null;
  readonly all_groups: boolean;
  readonly group_ids: readonly string[];
}

/** A model and the groups that have it only as a judge: their callers may not call it unless it is also granted to them. */
export interface JudgeBinding {
  readonly modelId: string;
  readonly groupIds: readonly string[];
}

async function defaultJudge({ trx, directory }: Write, tenantId: string): Promise<string | null> {
  const ofTenant = (await tenantStore.find(trx, null, tenantId))?.default_judge_model_id ?? null;
  if (ofTenant !== null || directory.fallbackJudge === null) return ofTenant;
  return (await modelIdByName(trx, tenantId, directory.fallbackJudge)) ?? null;
}

/** The binding of the policy as stored; null if it is disabled or has no judge. */
export async function judgeBinding(write: Write, tenantId: string, policy: JudgingPolicy): Promise<JudgeBinding | null> {
  if (!policy.enabled) return null;
  const modelId = policy.judge_model_id ?? (await defaultJudge(write, tenantId));
  if (modelId === null) return null;
  return { modelId, groupIds: await groupsOnlyJudgedBy(write.trx, tenantId, policy.all_groups ? "roots" : policy.group_ids, modelId) };
}

/** Logs on each group that it gained or lost a judge through this policy. */
export function logJudgeBindings(
  write: Write,
  tenantId: string,
  policyId: string,
  before: JudgeBinding | null,
  after: JudgeBinding | null,
): void {
  const isSame = before?.modelId === after?.modelId;
  const entry = (action: "bind_judge" | "unbind_judge", binding: JudgeBinding, groupId: string) => {
    const what = { model_id: binding.modelId, semantic_policy_id: policyId };
    const change = action === "bind_judge" ? { after: what } : { before: what };
    write.log({ tenant_id: tenantId, action, resource: "group-models", resource_id: groupId, ...change });
  };
  for (const groupId of before?.groupIds ?? [])
    if (before !== null && !(isSame && after?.groupIds.includes(groupId))) entry("unbind_judge", before, groupId);
  for (const groupId of after?.groupIds ?? [])
    if (after !== null && !(isSame && before?.groupIds.includes(groupId))) entry("bind_judge", after, groupId);
}
