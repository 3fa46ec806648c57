import { adminsWithoutSecondFactor, endSessionsOfAccounts } from "../../store/sign-on/sign-on-sessions.ts";
import type { Write } from "../writes/write.ts";

/**
 * Ends the sessions and tokens of administrators who may have signed in without their second factor, because neither the
 * tenant nor their identity provider asked for it; sessions do not record how they began. Those who have none yet are
 * asked to set one up, in the sessions they have.
 */
export async function endSessionsWithoutFactor(write: Write, tenantId: string): Promise<void> {
  const adminIds = await adminsWithoutSecondFactor(write.trx, tenantId);
  if (adminIds.length === 0) return;
  await endSessionsOfAccounts(write.trx, tenantId, { endUserIds: [], adminIds }, () => new Date(write.directory.clock.now()));
  write.log({
    tenant_id: tenantId,
    action: "sign_out",
    resource: "tenants",
    resource_id: tenantId,
    after: { reason: "admin_two_factor", administrators: adminIds.length },
  });
}
