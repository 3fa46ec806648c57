import type {
  SemanticPolicy,
  SemanticPolicyCreate,
  SemanticPolicyQuery,
  SemanticPolicyUpdate,
} from "@gatehouse/contracts/semantic-policies";
import { uuid } from "../../kernel/ids.ts";
import { lockedModel } from "../../store/models/models.ts";
import { knownGroups } from "../../store/groups/resource-groups.ts";
import {
  semanticPolicyIdByName,
  semanticPolicyStore,
  setSemanticPolicyGroups,
  type SemanticPolicyInsert,
  type SemanticPolicyPatch,
  type SemanticPolicyRow,
} from "../../store/policies/semantic-policies.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { judgeBinding, logJudgeBindings } from "./judge-bindings.ts";

const DEFAULT_SURFACES = ["chat_input", "chat_output"];
const DEFAULT_TIMEOUT_SECONDS = 10;

function read(row: SemanticPolicyRow): SemanticPolicy {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    constraint_text: row.constraint_text,
    action: row.action as SemanticPolicy["action"],
    mode: row.mode as SemanticPolicy["mode"],
    surfaces: row.surfaces,
    enabled: row.enabled,
    judge_model_id: row.judge_model_id,
    on_judge_failure: row.on_judge_failure as SemanticPolicy["on_judge_failure"],
    timeout_seconds: row.timeout_seconds,
    resource_group_ids: row.all_groups ? null : row.group_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A judge's failure must not let through what an enforcing policy would block. */
function failureOf(action: string, mode: string): "block" | "allow" {
  return action === "block" && mode === "enforce" ? "block" : "allow";
}

/** Refuses a judge that does not exist or cannot be called, naming `field`; locks it against concurrent deletion. */
export async function checkJudge(
  write: Write,
  tenantId: string,
  modelId: string | null | undefined,
  field = "judge_model_id",
): Promise<void> {
  if (modelId == null) return;
  const model = await lockedModel(write.trx, tenantId, modelId);
  if (model === undefined) throw invalidField(field, "is no model of this tenant");
  if (!model.modes.includes("chat") && !model.modes.includes("responses"))
    throw invalidField(field, "is a model that holds no conversation");
}

/** Null binds to every group. */
async function bind(write: Write, tenantId: string, policyId: string, ids: readonly string[] | null): Promise<void> {
  const wanted = [...new Set(ids ?? [])];
  const known = await knownGroups(write.trx, tenantId, wanted);
  const unknown = wanted.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw invalidField("resource_group_ids", `names no resource group of this tenant: ${unknown.slice(0, 5).join(", ")}`);
  await setSemanticPolicyGroups(write.trx, tenantId, policyId, wanted);
}

/** Policies in natural language, by which a model judges requests and answers. */
export const semanticPolicies = records<
  SemanticPolicyRow,
  SemanticPolicyInsert,
  SemanticPolicyPatch,
  SemanticPolicy,
  SemanticPolicyCreate,
  SemanticPolicyUpdate,
  SemanticPolicyQuery,
  string
>({
  resource: "semantic-policies",
  noun: "semantic policy",
  store: semanticPolicyStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => semanticPolicyIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    await checkJudge(write, tenantId, body.judge_model_id);
    const action = body.action ?? "block";
    const mode = body.mode ?? "enforce";
    return {
      id: uuid(),
      tenant_id: tenantId,
      name: body.name,
      description: body.description ?? null,
      constraint_text: body.constraint_text,
      action,
      mode,
      surfaces: [...new Set(body.surfaces ?? DEFAULT_SURFACES)],
      enabled: body.enabled ?? true,
      judge_model_id: body.judge_model_id ?? null,
      on_judge_failure: body.on_judge_failure ?? failureOf(action, mode),
      timeout_seconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      all_groups: body.resource_group_ids == null,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async created(write, tenantId, row, body) {
    const groupIds = body.resource_group_ids ?? null;
    await bind(write, tenantId, row.id, groupIds);
    const now = await judgeBinding(write, tenantId, { ...row, group_ids: groupIds ?? [] });
    logJudgeBindings(write, tenantId, row.id, null, now);
  },
  async toPatch(write, tenantId, row, body) {
    const { resource_group_ids: given, surfaces, ...rest } = body;
    await checkJudge(write, tenantId, body.judge_model_id);
    const before = await judgeBinding(write, tenantId, row);
    if (given !== undefined) await bind(write, tenantId, row.id, given);
    const now = await judgeBinding(write, tenantId, {
      enabled: body.enabled ?? row.enabled,
      judge_model_id: body.judge_model_id === undefined ? row.judge_model_id : body.judge_model_id,
      all_groups: given === undefined ? row.all_groups : given === null,
      group_ids: given === undefined ? row.group_ids : (given ?? []),
    });
    logJudgeBindings(write, tenantId, row.id, before, now);
    // A policy that becomes blocking also gets the strict failure default, unless another was chosen.
    const turned = failureOf(body.action ?? row.action, body.mode ?? row.mode);
    const untouched = row.on_judge_failure === failureOf(row.action, row.mode);
    return {
      ...rest,
      ...(surfaces === undefined ? {} : { surfaces: [...new Set(surfaces)] }),
      ...(body.on_judge_failure === undefined && untouched ? { on_judge_failure: turned } : {}),
      ...(given === undefined ? {} : { all_groups: given === null }),
      updated_at: write.now,
    };
  },
  dependents: async () => [],
  async removing(write, row) {
    logJudgeBindings(write, row.tenant_id, row.id, await judgeBinding(write, row.tenant_id, row), null);
  },
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});
