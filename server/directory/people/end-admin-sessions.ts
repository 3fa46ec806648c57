import { adminUserStore } from "../../store/people/admin-users.ts";
import { write, type Actor } from "../writes/write.ts";
import { nextGeneration } from "./admin-users.ts";
import { LOGIN_RESOURCE, type Admin, type Logins } from "./logins.ts";
import { endPageSessionsOf } from "./page-sessions.ts";

/** Ends every session and token of the admin, on every device. */
export async function endAdminSessions({ directory }: Logins, admin: Admin, actor: Actor): Promise<void> {
  await write(directory, actor, async (change) => {
    const row = await adminUserStore.find(change.trx, null, admin.id, "lock");
    if (row === undefined) return;
    await adminUserStore.update(change.trx, row.id, { tokens_valid_from: nextGeneration(row, change.now) });
    await endPageSessionsOf(change.trx, "admin", row.id);
    change.log({ tenant_id: row.tenant_id, action: "sign_out", resource: LOGIN_RESOURCE, resource_id: row.id });
  });
}
