import { endUserStore, type EndUserRow } from "../../../store/people/end-users.ts";
import { tenantIsEnabled } from "../../../store/tenants/tenants.ts";
import { beginPageSession, continuePageSession, endPageSession, pageTokenSeconds, refuseStaleToken } from "../page-sessions.ts";
import type { PortalToken } from "./portal-token.ts";
import type { PortalLogins, PortalSession } from "./portal-logins.ts";

/** Returns the cookie value of a new session. Refuses a token that was not freshly issued by a sign-in. */
export async function beginPortalSession(
  { directory }: PortalLogins,
  user: Pick<EndUserRow, "id" | "tenant_id" | "tokens_valid_from">,
  token: Pick<PortalToken, "issuedAt" | "sessionEndsAt" | "renewed" | "signedOn">,
): Promise<string> {
  refuseStaleToken(directory, token);
  const { tenant_id: tenantId, id: userId } = user;
  return beginPageSession(directory, "portal", {
    ...{ tenantId, userId, endsAt: token.sessionEndsAt, signedOn: token.signedOn },
    generation: user.tokens_valid_from.getTime(),
  });
}

/** The next token of a session; for `cookie` see `continuePageSession`. Null if the session has ended. */
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
  const { endsAt: sessionEndsAt, signedOn } = session.holder;
  const expiresIn = pageTokenSeconds(directory, session.holder, tokens.expirySeconds);
  return {
    user,
    token: await tokens.issue(user, { at, seconds: expiresIn, sessionEndsAt, renewed: true, signedOn }),
    expiresIn,
    signedOn,
    cookie: session.cookie,
  };
}
