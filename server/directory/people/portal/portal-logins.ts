import { refuse, Refused } from "../../../kernel/errors.ts";
import { endUserByUsername, endUserStore, noteLogin, type EndUserRow } from "../../../store/people/end-users.ts";
import type { EndUserCache } from "../../end-user-cache.ts";
import { signedOutMeanwhile } from "../../identity/vouched.ts";
import { invalidField } from "../../writes/records.ts";
import { write, type Actor, type Directory } from "../../writes/write.ts";
import { END_USERS, notifyUser } from "../end-users.ts";
import { nextTokenGeneration } from "../token-generation.ts";
import { takesLocalPasswords } from "../local-passwords.ts";
import { NO_PASSWORD } from "../no-password.ts";
import type { AddressUses } from "../address-throttle.ts";
import { usernameKey } from "../login-throttle.ts";
import type { Attempts } from "../shared-login-throttle.ts";
import { codeIsRight } from "./code-check.ts";
import { hashingRequesterOf, type PasswordHashing } from "./password-work.ts";
import type { PortalTokens } from "./portal-tokens.ts";

export interface PortalLogins {
  readonly directory: Directory;
  readonly tokens: PortalTokens;
  readonly users: EndUserCache;
  readonly throttle: Attempts;
  readonly uses: AddressUses;
  readonly hashing: PasswordHashing;
}

/** Distinguished only in the audit row. */
export type TenantMissing = "tenant_unknown" | "tenant_disabled";

/** The tenant of a sign-in, or why the named one cannot be used. */
export type PortalTenant = { readonly id: string } | { readonly missing: TenantMissing };

/** The source of a user's request. */
export interface PortalOrigin {
  readonly address: string;
  readonly requestId: string;
}

export interface PortalSession {
  readonly user: EndUserRow;
  readonly token: string;
  readonly expiresIn: number;
  /** Whether the user signed in by an identity provider rather than a password. */
  readonly signedOn: boolean;
}

/** What an identity provider asserted about a sign-in. */
interface ProviderWord {
  /** When the provider ends the session, epoch milliseconds; null if it sets no end. */
  readonly sessionEndsAt: number | null;
}

/** The password was correct, and a code is still required. */
export interface SecondFactorRequired {
  readonly user: EndUserRow;
  readonly tempToken: string;
}

/** By ID only, because the admin log is never erased, while a person may ask to be. */
export function userActor(user: Pick<EndUserRow, "id">, origin: PortalOrigin): Actor {
  return { id: user.id, username: null, role: "end_user", clientIp: null, requestId: origin.requestId };
}

/** The caller always gets the same 401; the reason is only for the audit row. */
const wrong = (reason: string) => new Refused(refuse("unauthenticated", undefined, { reason }));

export function tooManyAttempts(retryAfter: number): Refused {
  return new Refused(refuse("too_many_logins", undefined, { headers: { "retry-after": String(retryAfter) } }));
}

async function signedIn({ tokens }: PortalLogins, user: EndUserRow, at: number, word: ProviderWord | null = null): Promise<PortalSession> {
  const sessionEndsAt = word?.sessionEndsAt ?? null;
  const signedOn = word !== null;
  const left = sessionEndsAt === null ? tokens.expirySeconds : Math.max(0, Math.floor((sessionEndsAt - at) / 1000));
  const token = await tokens.issue(user, { at, sessionEndsAt, signedOn });
  return { user, token, expiresIn: Math.min(tokens.expirySeconds, left), signedOn };
}

/**
 * Null if the user's password or second factor changed, or the user was signed out, during verification; waits for a
 * concurrent change. The token is dated before that check, so that later changes revoke it.
 */
async function completed(logins: PortalLogins, verified: EndUserRow, word: ProviderWord | null = null): Promise<PortalSession | null> {
  const at = logins.directory.clock.now();
  const user = await noteLogin(logins.directory.db, verified, new Date(at));
  if (user === undefined) return null;
  if (user.api_keys_suspended_at !== null && word === null) await resumeKeys(logins, user);
  return signedIn(logins, user, at, word);
}

/** Signing in with a password resumes suspended API keys, unless the user was signed out again meanwhile. */
async function resumeKeys({ directory, users }: PortalLogins, user: EndUserRow): Promise<void> {
  const { tenant_id: tenantId, id } = user;
  await write(directory, { id, username: null, role: "end_user", clientIp: null, requestId: null }, async (change) => {
    const row = await endUserStore.find(change.trx, tenantId, id, "lock");
    if (row?.tokens_valid_from.getTime() !== user.tokens_valid_from.getTime()) return change.stay({}, {}, undefined);
    await endUserStore.update(change.trx, id, { api_keys_suspended_at: null });
    change.log({ tenant_id: tenantId, action: "resume_api_keys", resource: END_USERS, resource_id: id });
    notifyUser(change, user);
  });
  users.drop(tenantId, id);
}

/** Only for callers who have proved that the account is theirs. */
async function refuseUnlessTaken(logins: PortalLogins, user: EndUserRow): Promise<void> {
  if (!user.is_active) throw new Refused(refuse("inactive_user"));
  if (!(await takesLocalPasswords(logins.directory.db, user.tenant_id))) throw new Refused(refuse("local_passwords_off"));
}

/**
 * Throws the same 401 after the same work, whatever was wrong, or `too_many_logins` with Retry-After; `inactive_user` only
 * if the password was correct.
 */
export async function logInPortalUser(
  logins: PortalLogins,
  tenant: PortalTenant,
  given: { username: string; password: string },
  origin: PortalOrigin,
): Promise<PortalSession | SecondFactorRequired> {
  const tenantId = "id" in tenant ? tenant.id : null;
  const account = JSON.stringify(["portal", tenantId, usernameKey(given.username)]);
  let reason = "missing" in tenant ? tenant.missing : "unknown_user";
  let found: EndUserRow | undefined;
  const outcome = await logins.throttle.attempt(account, origin.address, async (turn) => {
    const user = tenantId === null ? undefined : await endUserByUsername(logins.directory.db, tenantId, given.username);
    if (user === undefined || user.password_hash === NO_PASSWORD) {
      await logins.hashing.dummyVerify(given.password, turn);
      return false;
    }
    if (!(await logins.hashing.verifyPassword(given.password, user.password_hash, turn))) {
      reason = "wrong_password";
      return false;
    }
    found = user;
    return true;
  });
  if (!outcome.ran) throw tooManyAttempts(outcome.retryAfter);
  if (found === undefined) throw wrong(reason);
  await refuseUnlessTaken(logins, found);
  if (found.totp_enabled) return { user: found, tempToken: await logins.tokens.issueSecondStep(found) };
  const login = await completed(logins, found);
  if (login === null) throw wrong("wrong_password");
  return login;
}

/** The second step: an authenticator or backup code, each accepted once. */
export async function logInWithCode(
  logins: PortalLogins,
  given: { tempToken: string; code: string },
  origin: PortalOrigin,
): Promise<PortalSession> {
  const step = await logins.tokens.verifySecondStep(given.tempToken);
  if (step === null) throw wrong("temp_token_invalid");
  let found: EndUserRow | undefined;
  const outcome = await logins.throttle.attempt(JSON.stringify(["code", step.userId]), origin.address, async () => {
    const user = await endUserStore.find(logins.directory.db, step.tenantId, step.userId);
    if (user === undefined || !user.totp_enabled || user.tokens_valid_from.getTime() !== step.generation) return false;
    if (!(await codeIsRight(logins, user, given.code))) return false;
    found = user;
    return true;
  });
  if (!outcome.ran) throw tooManyAttempts(outcome.retryAfter);
  if (found === undefined) throw wrong("wrong_code");
  // Passwords may have been disabled since the first step.
  await refuseUnlessTaken(logins, found);
  const login = await completed(logins, found);
  if (login === null) throw wrong("wrong_code");
  return login;
}

/**
 * Completes a sign-in that an identity provider just confirmed, if the user is still admitted; the token is limited to the
 * provider's session.
 */
export async function signedOnUser(
  logins: PortalLogins,
  tenantId: string,
  { id, generation }: { readonly id: string; readonly generation: number },
  sessionEndsAt: number | null,
): Promise<PortalSession> {
  const user = await endUserStore.find(logins.directory.db, tenantId, id);
  const login = user === undefined ? null : await completed(logins, user, { sessionEndsAt });
  if (login === null) throw new Refused(refuse("inactive_user"));
  // Checked on the row as updated, because that update waits for a concurrent sign-out.
  if (login.user.tokens_valid_from.getTime() !== generation) throw signedOutMeanwhile();
  return login;
}

/** The response body of a login. */
export function tokenAnswer({ user, token, expiresIn, signedOn }: PortalSession): unknown {
  const { id, username, email, display_name, is_verified, metadata } = user;
  const mustChange = user.must_change_password && !signedOn;
  return {
    access_token: token,
    token_type: "bearer",
    expires_in: expiresIn,
    user: { id, username, email, display_name, is_verified, metadata, ...(mustChange ? { must_change_password: true } : {}) },
  };
}

/** Runs `judge` under the throttle for guesses that a signed-in user makes about their own account. */
export async function reauthenticate(
  logins: PortalLogins,
  userId: string,
  origin: PortalOrigin,
  judge: () => Promise<boolean>,
): Promise<boolean> {
  let right = false;
  const outcome = await logins.throttle.attempt(JSON.stringify(["own", userId]), origin.address, async () => {
    right = await judge();
    return right;
  });
  if (!outcome.ran) throw tooManyAttempts(outcome.retryAfter);
  return right;
}

export async function userRow(logins: PortalLogins, tenantId: string, userId: string): Promise<EndUserRow> {
  const user = await endUserStore.find(logins.directory.db, tenantId, userId);
  if (user === undefined) throw wrong("credential_unknown");
  return user;
}

/**
 * Revokes all the user's tokens and returns a new one. Refuses a wrong current password as a field error, and with
 * `local_passwords_off` if the tenant accepts no passwords, unless the user must change theirs before anything else.
 */
export async function changePortalPassword(
  logins: PortalLogins,
  who: { tenantId: string; userId: string },
  given: { current: string; next: string },
  origin: PortalOrigin,
): Promise<PortalSession> {
  const before = await userRow(logins, who.tenantId, who.userId);
  if (!before.must_change_password && !(await takesLocalPasswords(logins.directory.db, who.tenantId)))
    throw new Refused(refuse("local_passwords_off"));
  if (
    !(await reauthenticate(logins, who.userId, origin, () =>
      logins.hashing.verifyPassword(given.current, before.password_hash, hashingRequesterOf(before)),
    ))
  )
    throw invalidField("current_password", "is wrong");
  if (before.must_change_password && given.next === given.current) throw invalidField("new_password", "must be another one");
  const passwordHash = await logins.hashing.hashPassword(given.next, hashingRequesterOf(before));
  const changed = await write(logins.directory, userActor(before, origin), async (change) => {
    const row = await endUserStore.find(change.trx, who.tenantId, who.userId, "lock");
    if (row === undefined) throw wrong("credential_unknown");
    // A password set in the meantime, for example by an administrator locking somebody out, is kept.
    if (row.password_hash !== before.password_hash) throw invalidField("current_password", "is wrong");
    const validFrom = nextTokenGeneration(row, logins.directory.clock);
    await endUserStore.update(change.trx, row.id, {
      password_hash: passwordHash,
      must_change_password: false,
      tokens_valid_from: validFrom,
      updated_at: change.now,
    });
    change.log({
      tenant_id: row.tenant_id,
      action: "change_password",
      resource: END_USERS,
      resource_id: row.id,
      after: { password: "***" },
    });
    notifyUser(change, row);
    return { ...row, must_change_password: false, tokens_valid_from: validFrom };
  });
  logins.users.drop(who.tenantId, who.userId);
  return signedIn(logins, changed, changed.tokens_valid_from.getTime());
}
