import type { AdminUser } from "@gatehouse/contracts/admin-users";
import { refuse, Refused } from "../../kernel/errors.ts";
import { putAdminBackupCodes } from "../../store/people/admin-second-factors.ts";
import { adminUserStore, type AdminUserRow } from "../../store/people/admin-users.ts";
import { notFound } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { guardRank, nextGeneration, readAdminUser } from "./admin-users.ts";
import { LOGIN_RESOURCE } from "./logins.ts";
import { endPageSessionsOf } from "./page-sessions.ts";

/**
 * For an administrator who lost their device and backup codes. Ends their sessions and tokens, because whoever found the
 * device may be signed in.
 */
export async function resetAdminSecondFactor(write: Write, scope: string | null, id: string): Promise<AdminUser> {
  const row = await adminUserStore.find(write.trx, scope, id, "lock");
  if (row === undefined) throw notFound("admin user");
  guardRank(write, row.role);
  // Otherwise a stolen token would be enough to remove the factor.
  if (row.id === write.actor.id)
    throw new Refused(refuse("own_account", "Your own second factor is switched off with one of its codes, or reset by somebody else."));
  await putAdminBackupCodes(write.trx, id, []);
  await adminUserStore.update(write.trx, id, {
    totp_enabled: false,
    totp_secret_sealed: null,
    tokens_valid_from: nextGeneration(row, write.now),
    updated_at: write.now,
  });
  await endPageSessionsOf(write.trx, "admin", id);
  write.log({
    tenant_id: row.tenant_id,
    action: "reset_2fa",
    resource: LOGIN_RESOURCE,
    resource_id: id,
    before: { totp_enabled: row.totp_enabled },
    after: { totp_enabled: false },
  });
  return readAdminUser((await adminUserStore.find(write.trx, scope, id)) as AdminUserRow);
}
