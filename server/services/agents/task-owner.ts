import { grantFor } from "../../directory/agents/deciding-grant.ts";
import type { AgentTaskRow, AgentTasks } from "../../directory/agents/tasks.ts";
import type { EndUserCache } from "../../directory/end-user-cache.ts";
import type { Snapshots } from "../../directory/snapshots.ts";

/** Who began a task, and for which group. */
export type TaskOwner = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "owner_kind" | "owner_id" | "resource_group_id">;

interface OwnerParts {
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly users: Pick<EndUserCache, "find">;
  readonly tasks: Pick<AgentTasks, "isCredentialGood">;
}

/**
 * Whether whoever began a task would still be let to its agent: nobody is told of the task on behalf of whoever would not. Rejects where the
 * directory cannot be asked.
 */
export async function isOwnerLetIn(owner: TaskOwner, { snapshots, users, tasks }: OwnerParts): Promise<boolean> {
  const { tenant_id: tenantId, agent_id: agentId, owner_id: ownerId, resource_group_id: groupId } = owner;
  const scope = await snapshots.scope(tenantId, groupId);
  if (scope === null || !scope.tenant.enabled || scope.autonomy?.level === "suspended") return false;
  const { agents } = scope.tenant;
  const grant = grantFor(agents.grants.get(agentId) ?? [], scope.chain, scope.grantingGroups);
  if (agents.byId.get(agentId)?.enabled !== true || grant === null || grant.decision === "deny") return false;
  if (scope.autonomy?.bounds?.agents?.has(agentId) === false) return false;
  if (owner.owner_kind !== "user") return tasks.isCredentialGood(tenantId, ownerId);
  const user = await users.find(tenantId, ownerId);
  if (user?.is_active !== true) return false;
  // A key of their own may be for a group that they are not in.
  return user.group_ids.includes(groupId) || tasks.isCredentialGood(tenantId, { userId: ownerId, groupId });
}
