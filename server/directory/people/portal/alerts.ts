import { acknowledgeAlert } from "../../../store/policies/alert-acknowledgements.ts";
import { alertsOfGroups } from "../../../store/policies/alerts-of-groups.ts";
import type { AlertRow } from "../../../store/policies/alerts.ts";
import type { Page, Paged } from "../../../store/records/paging.ts";
import type { EndUserIdentity } from "../../end-user-cache.ts";
import type { TenantSnapshot } from "../../snapshot.ts";
import { readAlert, type AlertView } from "../../limits/alerts.ts";
import { notFound } from "../../writes/records.ts";
import type { Directory } from "../../writes/write.ts";

type Parts = Pick<Directory, "db" | "clock">;

/** An alert with this user's acknowledgement. Acknowledging is per user; the alert itself is resolved when its cause ends. */
export interface PortalAlert extends AlertView {
  readonly acknowledged: boolean;
  readonly acknowledged_at: string | null;
}

export function portalAlert(row: AlertRow, acknowledgedAt: Date | null): PortalAlert {
  return { ...readAlert(row), acknowledged: acknowledgedAt !== null, acknowledged_at: acknowledgedAt?.toISOString() ?? null };
}

/** The groups whose alerts concern the user: their own and all ancestors, whose limits also apply. */
export function alertGroupsOf(tenant: TenantSnapshot, user: EndUserIdentity): Set<string> {
  const ids = new Set<string>();
  for (const start of user.group_ids) {
    for (
      let node = tenant.policies.node(start);
      node !== undefined && !ids.has(node.id);
      node = node.parentId === null ? undefined : tenant.policies.node(node.parentId)
    )
      ids.add(node.id);
  }
  return ids;
}

/** Throws a `not_found` refusal for a group that does not concern the user. */
export async function listPortalAlerts(
  { db }: Parts,
  tenant: TenantSnapshot,
  user: EndUserIdentity,
  groupId: string | null,
  page: Page,
): Promise<Paged<PortalAlert>> {
  const groups = alertGroupsOf(tenant, user);
  if (groupId !== null && !groups.has(groupId)) throw notFound("resource group");
  const { items, total } = await alertsOfGroups(db, tenant.id, groupId === null ? [...groups] : [groupId], user.id, page);
  return { total, items: items.map(({ acknowledged_at: at, ...row }) => portalAlert(row, at)) };
}

export async function acknowledgePortalAlert(
  { db, clock }: Parts,
  tenant: TenantSnapshot,
  user: EndUserIdentity,
  alertId: string,
): Promise<string> {
  const at = await acknowledgeAlert(db, tenant.id, [...alertGroupsOf(tenant, user)], user.id, alertId, new Date(clock.now()));
  if (at === undefined) throw notFound("alert");
  return at.toISOString();
}
