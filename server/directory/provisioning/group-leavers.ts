import { accountsLetInByGroup } from "../../store/provisioning/scim-departures.ts";
import { suspendKeysOf } from "../../store/people/end-users.ts";
import { endSessionsOfAccounts } from "../../store/sign-on/sign-on-sessions.ts";
import type { Write } from "../writes/write.ts";
import { notifyPeople } from "./notify-people.ts";
import type { ScimCaller } from "./scim-tokens.ts";

/**
 * Signs out people who left a group that an identity provider linked to the directory requires, or maps to a role, and
 * suspends their API keys until a later sign-in shows whether they are still admitted. `names`: the group's name and its
 * ID in the directory, as a provider may use either.
 */
export async function signOutLeavers(
  write: Write,
  caller: ScimCaller,
  { groupId, names }: { readonly groupId: string; readonly names: readonly string[] },
  peopleIds: readonly string[],
): Promise<void> {
  if (peopleIds.length === 0 || names.length === 0) return;
  const { keysSuspendedOf, ...accounts } = await accountsLetInByGroup(write.trx, caller, names, peopleIds);
  const counts = { people: accounts.endUserIds.length, administrators: accounts.adminIds.length };
  if (counts.people + counts.administrators === 0) return;
  await endSessionsOfAccounts(write.trx, caller.tenantId, accounts, () => new Date(write.directory.clock.now()));
  await suspendKeysOf(write.trx, caller.tenantId, keysSuspendedOf, write.now);
  notifyPeople(write, caller.tenantId, accounts.endUserIds);
  write.log({
    tenant_id: caller.tenantId,
    action: "sign_out",
    resource: "end-user-groups",
    resource_id: groupId,
    after: { directory: caller.source, ...counts },
  });
}
