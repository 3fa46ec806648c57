import type { Database } from "../../store/database.ts";
import { adminByUsername } from "../../store/people/admin-users.ts";
import { write } from "../writes/write.ts";
import { OPERATOR, operatorDirectory } from "./operator.ts";
import { resetAdminSecondFactor } from "./reset-admin-factor.ts";

/** Resets the second factor of an administrator, of the system if the tenant is null, for whoever has the database. */
export async function resetFactorByOperator(
  db: Database,
  tenantId: string | null,
  username: string,
): Promise<{ readonly outcome: "reset" | "had_none"; readonly username: string } | null> {
  const row = await adminByUsername(db, tenantId, username);
  if (row === undefined) return null;
  if (!row.totp_enabled) return { outcome: "had_none", username: row.username };
  await write(operatorDirectory(db), OPERATOR, (change) => resetAdminSecondFactor(change, tenantId, row.id));
  return { outcome: "reset", username: row.username };
}
