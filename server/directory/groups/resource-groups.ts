import type { ResourceGroup, ResourceGroupCreate, ResourceGroupQuery, ResourceGroupUpdate } from "@gatehouse/contracts/resource-groups";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { detachKeys } from "../../store/credentials/api-keys.ts";
import { knowledgeBasesByIds } from "../../store/knowledge/knowledge-bases.ts";
import { forgetPrimaryGroup } from "../../store/people/end-users.ts";
import {
  ancestorsOf,
  moveUsageToParent,
  dependentsOfGroup,
  descendantsOf,
  groupIdByName,
  knownGroups,
  lockTree,
  recordBranchRemoved,
  resourceGroupStore,
  type ResourceGroupInsert,
  type ResourceGroupPatch,
  type ResourceGroupRow,
} from "../../store/groups/resource-groups.ts";
import { checkMove } from "../limits/group-policies.ts";
import { endNoticeConfig } from "../notices/notice-configs.ts";
import { counted, invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

/** Deeper than any organization, yet shallow enough to walk on every change. */
const MAX_DEPTH = 32;

export function readResourceGroupRow(row: ResourceGroupRow): ResourceGroup {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    parent_group_id: row.parent_group_id,
    name: row.name,
    display_name: row.display_name,
    description: row.description,
    group_type: row.group_type as ResourceGroup["group_type"],
    inherit_resources: row.inherit_resources,
    eu_ai_act_risk_tier: row.eu_ai_act_risk_tier,
    phi_resource: row.phi_resource,
    default_knowledgebase_ids: row.default_knowledgebase_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Refuses a parent that does not exist or would make the tree too deep. `below`: the number of levels below the group. */
async function checkParent(write: Write, tenantId: string, parentId: string, below: number): Promise<ResourceGroupRow[]> {
  if (!(await knownGroups(write.trx, tenantId, [parentId])).has(parentId))
    throw invalidField("parent_group_id", "names no resource group of this tenant");
  const above = await ancestorsOf(write.trx, tenantId, parentId);
  if (above.length + 2 + below > MAX_DEPTH) throw invalidField("parent_group_id", `would make the tree deeper than ${MAX_DEPTH} levels`);
  return above;
}

async function checkKnowledgeBases(write: Write, tenantId: string, ids: readonly string[] | null | undefined): Promise<void> {
  if (ids == null || ids.length === 0) return;
  const found = new Set((await knowledgeBasesByIds(write.trx, tenantId, ids, null)).map(({ id }) => id));
  if (ids.some((id) => !found.has(id))) throw invalidField("default_knowledgebase_ids", "names no knowledge base of this tenant");
}

function levelsBelow(id: string, descendants: readonly ResourceGroupRow[]): number {
  const depth = new Map([[id, 0]]);
  for (const row of descendants) depth.set(row.id, (depth.get(row.parent_group_id ?? "") ?? 0) + 1);
  return Math.max(...depth.values());
}

export const resourceGroups = records<
  ResourceGroupRow,
  ResourceGroupInsert,
  ResourceGroupPatch,
  ResourceGroup,
  ResourceGroupCreate,
  ResourceGroupUpdate,
  ResourceGroupQuery,
  string
>({
  resource: "resource-groups",
  noun: "resource group",
  store: resourceGroupStore,
  read: readResourceGroupRow,
  tenantOf: (row) => row.tenant_id,
  begin: (write, tenantId) => lockTree(write.trx, tenantId),
  takenBy: (write, tenantId, candidate) => groupIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    await checkKnowledgeBases(write, tenantId, body.default_knowledgebase_ids);
    if (body.parent_group_id != null) await checkParent(write, tenantId, body.parent_group_id, 0);
    return {
      id: uuid(),
      tenant_id: tenantId,
      parent_group_id: body.parent_group_id ?? null,
      name: body.name,
      display_name: body.display_name ?? null,
      description: body.description ?? null,
      group_type: body.group_type ?? "team",
      inherit_resources: body.inherit_resources ?? true,
      eu_ai_act_risk_tier: body.eu_ai_act_risk_tier ?? null,
      phi_resource: body.phi_resource ?? null,
      default_knowledgebase_ids: body.default_knowledgebase_ids ?? null,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, tenantId, row, body) {
    await checkKnowledgeBases(write, tenantId, body.default_knowledgebase_ids);
    const parentId = body.parent_group_id;
    if (parentId !== undefined && parentId !== row.parent_group_id) {
      const above = parentId === null ? [] : [parentId, ...(await newAncestors(write, tenantId, row.id, parentId))];
      await checkMove(write, tenantId, row.id, parentId);
      const left = (await ancestorsOf(write.trx, tenantId, row.id)).filter(({ id }) => !above.includes(id));
      await recordBranchRemoved(
        write.trx,
        tenantId,
        left.map(({ id }) => id),
      );
    }
    return { ...body, updated_at: write.now };
  },
  async dependents(write, row) {
    const found = await dependentsOfGroup(write.trx, row.id, write.now);
    return [
      ...counted(found.children, "child group"),
      ...counted(found.active_keys, "active API key"),
      ...counted(found.end_users, "end user in it", "end users in it"),
      ...counted(found.ai_systems, "AI System that it is registered as"),
    ];
  },
  async removing(write, row) {
    await detachKeys(write.trx, row.id, write.now);
    await moveUsageToParent(write.trx, row);
    await forgetPrimaryGroup(write.trx, row.tenant_id, row.id);
    await endNoticeConfig(write, row.tenant_id, row.id);
    write.notify(row.tenant_id, "end_user");
  },
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** The IDs of the ancestors the group would have. Refuses cycles. */
async function newAncestors(write: Write, tenantId: string, id: string, parentId: string): Promise<string[]> {
  const below = levelsBelow(id, await descendantsOf(write.trx, tenantId, id));
  if (parentId === id) throw cycle();
  const above = (await checkParent(write, tenantId, parentId, below)).map((ancestor) => ancestor.id);
  if (above.includes(id)) throw cycle();
  return above;
}

function cycle(): Refused {
  return new Refused(refuse("cycle", undefined, { fields: [{ field: "parent_group_id", message: "stands under this group" }] }));
}
