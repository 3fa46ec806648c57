import { accountsLetInByGroup } from "../../store/provisioning/scim-departures.ts";
import type { ScimGroupRow } from "../../store/provisioning/scim-groups.ts";
import { endSessionsOfAccounts } from "../../store/sign-on/sign-on-sessions.ts";
import type { Write } from "../writes/write.ts";
import type { ScimCaller } from "./scim-tokens.ts";

/**
 * Signs out whoever left a group that a provider of the directory's people lets them in for, or has a role for: their next sign-in says
 * whether it still does. A provider may know the group by its name or by the directory's id of it.
 */
export async function signOutLeavers(
  write: Write,
  caller: ScimCaller,
  { end_user_group_id: groupId, display_name: name, external_id: externalId }: ScimGroupRow,
  peopleIds: readonly string[],
): Promise<void> {
  if (peopleIds.length === 0) return;
  const accounts = await accountsLetInByGroup(write.trx, caller, externalId === null ? [name] : [name, externalId], peopleIds);
  const counts = { people: accounts.endUserIds.length, administrators: accounts.adminIds.length };
  if (counts.people + counts.administrators === 0) return;
  await endSessionsOfAccounts(write.trx, caller.tenantId, accounts, () => new Date(write.directory.clock.now()));
  write.log({
    tenant_id: caller.tenantId,
    action: "sign_out",
    resource: "end-user-groups",
    resource_id: groupId,
    after: { directory: caller.source, ...counts },
  });
}
