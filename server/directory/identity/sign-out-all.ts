import type { IdentityProviderRow } from "../../store/sign-on/identity-providers.ts";
import { suspendKeysOf } from "../../store/people/end-users.ts";
import { accountsSignedInBy, endSessionsOfAccounts } from "../../store/sign-on/sign-on-sessions.ts";
import type { Write } from "../writes/write.ts";

/**
 * Ends all sessions and tokens of everyone who signed in by a provider that now admits fewer people or none; sessions do
 * not record how they began. `suspendsKeys`: also suspends their API keys until their next sign-in.
 */
export async function signOutAllOf(
  write: Write,
  { id, tenant_id: tenantId, name }: IdentityProviderRow,
  suspendsKeys: boolean,
): Promise<void> {
  const accounts = await accountsSignedInBy(write.trx, id);
  const { endUserIds, adminIds } = accounts;
  if (endUserIds.length + adminIds.length === 0) return;
  await endSessionsOfAccounts(write.trx, tenantId, accounts, () => new Date(write.directory.clock.now()));
  if (suspendsKeys) await suspendKeysOf(write.trx, tenantId, endUserIds, write.now);
  const counts = { people: endUserIds.length, administrators: adminIds.length };
  write.log({
    tenant_id: tenantId,
    action: "sign_out",
    resource: "identity-providers",
    resource_id: id,
    after: { provider: name, ...counts },
  });
  // One notification for all, because one per person could flood the table of changes.
  if (endUserIds.length > 0) write.notify(tenantId, "end_user");
}
