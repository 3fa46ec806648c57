import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Gates } from "../../road/gates.ts";
import { openCall } from "../../road/record/open.ts";
import type { TaskOwner } from "./task-owner.ts";

interface GuardParts {
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly gates: Pick<Gates, "inspects">;
  readonly clock: Clock;
}

/** Whether guardrails or policies currently inspect what agents say to the group of a task's owner; null if the group does not exist. */
export async function isOwnerGuarded(
  { tenant_id: tenantId, resource_group_id: groupId }: Pick<TaskOwner, "tenant_id" | "resource_group_id">,
  { snapshots, gates, clock }: GuardParts,
): Promise<boolean | null> {
  const scope = await snapshots.scope(tenantId, groupId);
  if (scope === null) return null;
  const arrival = { method: "GET", url: "http://gateway/", headers: new Headers() };
  const call = openCall(arrival, "", { proxyType: "a2a", proxySubtype: "task_subscribe" }, clock);
  return gates.inspects({ ...call, tenant: scope.tenant, scope }, "a2a_outbound");
}
