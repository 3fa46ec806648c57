import { refuse, Refused } from "../../kernel/errors.ts";
import { adminWithTenant } from "../../store/people/admin-users.ts";
import type { Actor } from "../writes/write.ts";
import { adminCodeIsRight } from "./admin-second-factor.ts";
import { adminOf, admits, completeAdminLogin, takesPassword, tooManyLogins, type LoginOrigin, type Logins, type SignIn } from "./logins.ts";
import { beginPageSession, continuePageSession, endPageSession, pageTokenSeconds, refuseStaleToken } from "./page-sessions.ts";

const wrong = (reason: string) => new Refused(refuse("unauthenticated", undefined, { reason }));

/** The second step of a login: an authenticator or backup code, each accepted once. */
export async function logInAdminWithCode(logins: Logins, given: { tempToken: string; code: string }, origin: LoginOrigin): Promise<SignIn> {
  const step = await logins.tokens.verifySecondStep(given.tempToken);
  if (step === null) throw wrong("temp_token_invalid");
  let signIn: SignIn | undefined;
  const outcome = await logins.throttle.attempt(JSON.stringify(["admin_code", step.userId]), origin.address, async () => {
    const row = await adminWithTenant(logins.directory.db, step.userId);
    if (!admits(row, step.generation) || !row.totp_enabled) return false;
    // Passwords may have been disabled since the first step.
    if (step.after === null && !takesPassword(row)) return false;
    if (!(await adminCodeIsRight(logins, row, given.code))) return false;
    const actor: Actor = { id: row.id, username: row.username, role: row.role, clientIp: origin.address, requestId: origin.requestId };
    const kind = step.after !== null ? "sign_on" : row.tenant_id === null ? "system" : "tenant";
    signIn = await completeAdminLogin(logins, row, actor, kind, step.after?.sessionEndsAt);
    return true;
  });
  if (!outcome.ran) throw tooManyLogins(outcome.retryAfter);
  if (signIn === undefined) throw wrong("wrong_code");
  return signIn;
}

/** Returns the cookie value of a new session. Refuses a token that was not freshly issued by a sign-in. */
export async function beginAdminSession({ directory, tokens }: Logins, bearer: string): Promise<string> {
  const token = await tokens.verify(bearer);
  if (token === null || token === "expired") throw wrong("credential_unknown");
  refuseStaleToken(directory, token);
  const row = await adminWithTenant(directory.db, token.userId);
  if (!admits(row, token.generation)) throw wrong("credential_unknown");
  return beginPageSession(directory, "admin", {
    tenantId: row.tenant_id,
    userId: row.id,
    generation: token.generation,
    endsAt: token.sessionEndsAt,
    signedOn: token.factorElsewhere,
  });
}

/** The next token of a session; for `cookie` see `continuePageSession`. Null if the session has ended. */
export async function renewAdminSession(
  { directory, tokens }: Logins,
  given: string | null,
): Promise<(SignIn & { readonly cookie: string | null }) | null> {
  const session = given === null ? null : await continuePageSession(directory, "admin", given);
  if (session === null) return null;
  const row = await adminWithTenant(directory.db, session.holder.userId);
  if (!admits(row, session.holder.generation)) {
    await endPageSession(directory, session.id);
    return null;
  }
  const { endsAt: sessionEndsAt, signedOn: factorElsewhere } = session.holder;
  const expiresIn = pageTokenSeconds(directory, session.holder, tokens.expirySeconds);
  return {
    token: await tokens.issue(row, { seconds: expiresIn, sessionEndsAt, renewed: true, factorElsewhere }),
    expiresIn,
    admin: adminOf(row, factorElsewhere),
    cookie: session.cookie,
  };
}
