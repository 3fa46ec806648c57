import { refuse, Refused } from "../../../kernel/errors.ts";
import { endUserStore, type EndUserRow } from "../../../store/end-users.ts";
import { tenantIsEnabled } from "../../../store/tenants.ts";
import { write } from "../../writes/write.ts";
import { END_USERS, notifyUser } from "../end-users.ts";
import { nextTokenGeneration } from "../token-generation.ts";
import { beginPageSession, continuePageSession, endPageSession, endPageSessionsOf, FRESH_MS, pageTokenSeconds } from "../page-sessions.ts";
import type { PortalToken } from "./portal-token.ts";
import { type PortalLogins, type PortalOrigin, type PortalSession, userActor, userRow } from "./portal-logins.ts";

/** What the cookie of a new session holds. Refuses a token that was not given just now. */
export async function beginPortalSession(
  { directory }: PortalLogins,
  user: Pick<EndUserRow, "id" | "tenant_id" | "tokens_valid_from">,
  token: Pick<PortalToken, "issuedAt" | "sessionEndsAt">,
): Promise<string> {
  if (directory.clock.now() - token.issuedAt > FRESH_MS) throw new Refused(refuse("forbidden", "Sign in again to begin a session."));
  const { tenant_id: tenantId, id: userId } = user;
  return beginPageSession(directory, "portal", {
    ...{ tenantId, userId, endsAt: token.sessionEndsAt },
    generation: user.tokens_valid_from.getTime(),
  });
}

/** The next token of a session; `cookie` is what its cookie holds from now on, null where that stays. Null for a session that ended. */
export async function renewPortalSession(
  { directory, tokens }: PortalLogins,
  given: string | null,
): Promise<(PortalSession & { readonly cookie: string | null }) | null> {
  const session = given === null ? null : await continuePageSession(directory, "portal", given);
  if (session === null || session.holder.tenantId === null) return null;
  const { tenantId, userId, generation } = session.holder;
  const at = directory.clock.now();
  const user = await endUserStore.find(directory.db, tenantId, userId);
  const holds =
    user?.is_active === true && user.tokens_valid_from.getTime() === generation && (await tenantIsEnabled(directory.db, tenantId));
  if (user === undefined || !holds) {
    await endPageSession(directory, session.id);
    return null;
  }
  const { endsAt: sessionEndsAt } = session.holder;
  const expiresIn = pageTokenSeconds(directory, session.holder, tokens.expirySeconds);
  return { user, token: await tokens.issue(user, { at, seconds: expiresIn, sessionEndsAt }), expiresIn, cookie: session.cookie };
}

/** Ends every session and token of the user, wherever they are signed in. */
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
