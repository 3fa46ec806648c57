import type { GroupScope } from "../../directory/snapshot.ts";
import type { PortalRequest } from "./portal-operation.ts";

/** Where one record is looked up: in the group the request is in, and unless the request names that one in every other of the user, because lists show any of them. */
export async function scopesOf({ services, call, user }: PortalRequest<unknown, unknown>): Promise<GroupScope[]> {
  const others = call.headers.get("x-resource-group") !== null ? [] : user.group_ids.filter((id) => id !== call.scope?.groupId);
  const scopes = await Promise.all(others.map((id) => services.snapshots.scope(user.tenant_id, id)));
  return [call.scope, ...scopes].filter((scope) => scope !== null);
}
