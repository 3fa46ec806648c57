import type { Database } from "../../store/database.ts";
import { tenantTakesPasswords } from "../../store/tenants/tenants.ts";

/** Whether people of the tenant may sign in with local passwords. */
export function takesLocalPasswords(db: Database, tenantId: string): Promise<boolean> {
  return tenantTakesPasswords(db, tenantId);
}
