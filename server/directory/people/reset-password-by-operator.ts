import { newPassword } from "../../kernel/secrets.ts";
import { hashPassword } from "../../runtime/passwords.ts";
import type { Database } from "../../store/database.ts";
import { adminByUsername, adminWithTenant } from "../../store/people/admin-users.ts";
import { write } from "../writes/write.ts";
import { adminUsers } from "./admin-users.ts";
import { takesPassword } from "./logins.ts";
import { OPERATOR, operatorDirectory } from "./operator.ts";

/** Sets a new password for an administrator, of the system if the tenant is null, for whoever has the database. */
export async function resetPasswordByOperator(db: Database, tenantId: string | null, username: string) {
  const row = await adminByUsername(db, tenantId, username);
  if (row === undefined) return null;
  const password = newPassword();
  await write({ ...operatorDirectory(db), hashPassword }, OPERATOR, (change) => adminUsers.update(change, tenantId, row.id, { password }));
  const now = await adminWithTenant(db, row.id);
  const isActive = now?.is_active === true && now.tenant_enabled !== false;
  const obstacle = !isActive ? "inactive" : !takesPassword(now) ? "passwords_off" : now.totp_enabled ? "second_factor" : null;
  return { username: row.username, password, obstacle } as const;
}
