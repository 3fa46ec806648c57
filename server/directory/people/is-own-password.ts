import type { AdminUserRow } from "../../store/people/admin-users.ts";
import { logEntries, type Actor } from "../writes/write.ts";
import { LOGIN_RESOURCE, type Logins } from "./logins.ts";
import { hashingRequesterOf } from "./portal/password-work.ts";

/** Whether the password is the signed-in admin's. A wrong one is in the admin log, because whoever sends it may hold a stolen token. */
export async function isOwnPassword(
  { directory, verifyPassword }: Logins,
  row: AdminUserRow,
  password: string,
  by: { readonly actor: Actor; readonly action: string },
): Promise<boolean> {
  if (await verifyPassword(password, row.password_hash, hashingRequesterOf(row))) return true;
  await logEntries(directory.db, by.actor, new Date(directory.clock.now()), [
    { tenant_id: row.tenant_id, action: by.action, resource: LOGIN_RESOURCE, resource_id: row.id, after: { reason: "wrong_password" } },
  ]);
  return false;
}
