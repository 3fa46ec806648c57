import { grantFor } from "../../directory/agents/deciding-grant.ts";
import type { AgentTaskRow, AgentTasks } from "../../directory/agents/tasks.ts";
import type { EndUserCache } from "../../directory/end-user-cache.ts";
import type { Snapshots } from "../../directory/snapshots.ts";

/** A task's owner and resource group. */
export type TaskOwner = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "owner_kind" | "owner_id" | "resource_group_id">;

interface OwnerParts {
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly users: Pick<EndUserCache, "find">;
  readonly tasks: Pick<AgentTasks, "isCredentialGood">;
}

/**
 * Whether the task's owner would still be granted access to the agent; without it, no notifications are sent. Rejects if the directory
 * cannot be read.
 */
export async function ownerHasAccess(owner: TaskOwner, { snapshots, users, tasks }: OwnerParts): Promise<boolean> {
  const { tenant_id: tenantId, agent_id: agentId, owner_id: ownerId, resource_group_id: groupId } = owner;
  const scope = await snapshots.scope(tenantId, groupId);
  if (scope === null || !scope.tenant.enabled || scope.autonomy?.level === "suspended") return false;
  const { agents } = scope.tenant;
  const grant = grantFor(agents.grants.get(agentId) ?? [], scope.chain, scope.grantingGroups);
  if (agents.byId.get(agentId)?.enabled !== true || grant === null || grant.decision === "deny") return false;
  if (scope.autonomy?.bounds?.agents?.has(agentId) === false) return false;
  if (owner.owner_kind !== "user") return tasks.isCredentialGood(tenantId, ownerId);
  const user = await users.find(tenantId, ownerId);
  // The task may have been begun with any of the user's keys, and while those are suspended the user is signed out too.
  if (user?.is_active !== true || user.api_keys_suspended_at !== null) return false;
  // A user's own key may be for a group of which the user is not a member.
  return user.group_ids.includes(groupId) || tasks.isCredentialGood(tenantId, { userId: ownerId, groupId });
}
