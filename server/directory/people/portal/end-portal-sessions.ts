import { endUserStore } from "../../../store/people/end-users.ts";
import { write } from "../../writes/write.ts";
import { END_USERS, notifyUser } from "../end-users.ts";
import { nextTokenGeneration } from "../token-generation.ts";
import { endPageSessionsOf } from "../page-sessions.ts";
import { type PortalLogins, type PortalOrigin, userActor, userRow } from "./portal-logins.ts";

/** Ends every session and token of the user, on every device. */
export async function endPortalSessions(
  logins: PortalLogins,
  who: { readonly tenantId: string; readonly userId: string },
  origin: PortalOrigin,
): Promise<void> {
  const user = await userRow(logins, who.tenantId, who.userId);
  await write(logins.directory, userActor(user, origin), async (change) => {
    const row = await endUserStore.find(change.trx, who.tenantId, who.userId, "lock");
    if (row === undefined) return;
    await endUserStore.update(change.trx, row.id, { tokens_valid_from: nextTokenGeneration(row, logins.directory.clock) });
    await endPageSessionsOf(change.trx, "portal", row.id);
    change.log({ tenant_id: row.tenant_id, action: "sign_out", resource: END_USERS, resource_id: row.id });
    notifyUser(change, row);
  });
  logins.users.drop(who.tenantId, who.userId);
}
