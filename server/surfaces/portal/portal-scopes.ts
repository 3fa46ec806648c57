import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { PortalRequest } from "./portal-request.ts";

/** Refuses a group that the user is not in. */
export function fromOtherTenant({ user }: Pick<PortalRequest<unknown, unknown>, "user">, groupId: string | undefined): Refusal | null {
  return groupId === undefined || user.group_ids.includes(groupId) ? null : refuse("forbidden", "You are not in this resource group.");
}

/** What a list is of: the group named, else the one the request is in; null for a user without a group. */
export async function scopeOf(request: PortalRequest<unknown, unknown>, groupId: string | undefined): Promise<GroupScope | null | Refusal> {
  if (groupId === undefined) return request.call.scope;
  return fromOtherTenant(request, groupId) ?? request.services.snapshots.scope(request.user.tenant_id, groupId);
}

/**
 * Where one record is looked up: in the group the request is in, and unless the request names that one in every other of the user,
 * because lists show any of them.
 */
export async function lookupScopesOf({ services, call, user }: PortalRequest<unknown, unknown>): Promise<GroupScope[]> {
  const others = call.headers.get("x-resource-group") !== null ? [] : user.group_ids.filter((id) => id !== call.scope?.groupId);
  const scopes = await Promise.all(others.map((id) => services.snapshots.scope(user.tenant_id, id)));
  return [call.scope, ...scopes].filter((scope) => scope !== null);
}
