import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { PortalRequest } from "./portal-request.ts";

/** Refuses a group that the user is not in; null if it is fine. */
export function fromOtherTenant({ user }: Pick<PortalRequest<unknown, unknown>, "user">, groupId: string | undefined): Refusal | null {
  return groupId === undefined || user.group_ids.includes(groupId) ? null : refuse("forbidden", "You are not in this resource group.");
}

/** The scope of a list: the named group, or else the one the request is in; null for a user without a group. */
export async function scopeOf(request: PortalRequest<unknown, unknown>, groupId: string | undefined): Promise<GroupScope | null | Refusal> {
  if (groupId === undefined) return request.call.scope;
  return fromOtherTenant(request, groupId) ?? request.services.snapshots.scope(request.user.tenant_id, groupId);
}

/**
 * Scopes in which to look up a record: the group of the request and, unless the request names that one explicitly, all other groups of the
 * user, because lists show records of any.
 */
export async function lookupScopesOf({ services, call, user }: PortalRequest<unknown, unknown>): Promise<GroupScope[]> {
  const others = call.headers.get("x-resource-group") !== null ? [] : user.group_ids.filter((id) => id !== call.scope?.groupId);
  const scopes = await Promise.all(others.map((id) => services.snapshots.scope(user.tenant_id, id)));
  return [call.scope, ...scopes].filter((scope) => scope !== null);
}
