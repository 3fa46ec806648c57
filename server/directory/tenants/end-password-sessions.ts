import { accountsWithPassword, endSessionsOfAccounts } from "../../store/sign-on/sign-on-sessions.ts";
import { NO_PASSWORD } from "../people/no-password.ts";
import type { Write } from "../writes/write.ts";

/**
 * Ends the sessions and tokens of everyone whose password the tenant no longer accepts; sessions do not record how they began. Whoever has
 * none signed in by an identity provider, and stays signed in.
 */
export async function endPasswordSessions(write: Write, tenantId: string): Promise<void> {
  const accounts = await accountsWithPassword(write.trx, tenantId, NO_PASSWORD);
  const counts = { people: accounts.endUserIds.length, administrators: accounts.adminIds.length };
  if (counts.people + counts.administrators === 0) return;
  await endSessionsOfAccounts(write.trx, tenantId, accounts, () => new Date(write.directory.clock.now()));
  write.log({
    tenant_id: tenantId,
    action: "sign_out",
    resource: "tenants",
    resource_id: tenantId,
    after: { reason: "local_passwords", ...counts },
  });
  // One notification for all, because one per person could flood the table of changes.
  if (counts.people > 0) write.notify(tenantId, "end_user");
}
