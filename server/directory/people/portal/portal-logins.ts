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
import { usernameKey } from "../login-throttle.ts";
import type { Attempts } from "../shared-login-throttle.ts";
import { codeIsRight } from "./code-check.ts";
import { hashingRequesterOf, type PasswordHashing } from "./password-work.ts";
import type { PortalTokens } from "./portal-tokens.ts";
import type { RegistrationThrottle } from "./registration-throttle.ts";

export interface PortalLogins {
  readonly directory: Directory;
  readonly tokens: PortalTokens;
  readonly users: EndUserCache;
  readonly throttle: Attempts;
  readonly registrations: RegistrationThrottle;
  readonly hashing: PasswordHashing;
}

/** Told apart for the audit row alone. */
export type TenantMissing = "tenant_unknown" | "tenant_disabled";

/** The tenant that somebody wants to get into, or why nobody gets into the one they named. */
export type PortalTenant = { readonly id: string } | { readonly missing: TenantMissing };

/** Who acts, and from where. */
export interface PortalOrigin {
  readonly address: string;
  readonly requestId: string;
}

export interface PortalSession {
  readonly user: EndUserRow;
  readonly token: string;
  readonly expiresIn: number;
  /** Whether an identity provider vouched for them, and no password was given. */
  readonly signedOn: boolean;
}

/** What is known of a sign-in by an identity provider. */
interface ProviderWord {
  /** When it said that the session ends, milliseconds since the epoch; null where it did not. */
  readonly sessionEndsAt: number | null;
}

/** The right password was given, and a code is still owed. */
export interface SecondFactorRequired {
  readonly user: EndUserRow;
  readonly tempToken: string;
}

/** By id alone: the admin log is kept whole, and a person may ask to be forgotten. */
export function userActor(user: Pick<EndUserRow, "id">, origin: PortalOrigin): Actor {
  return { id: user.id, username: null, role: "end_user", clientIp: null, requestId: origin.requestId };
}

/** One and the same 401 to the caller, whatever was wrong; the reason is for the audit row. */
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
 * Null when the user was given another password or second factor, or shut out, while what they presented was being
 * verified, which takes long enough: a change under way is waited for. The token is of the moment before, so that a later one ends it.
 */
async function completed(logins: PortalLogins, verified: EndUserRow, word: ProviderWord | null = null): Promise<PortalSession | null> {
  const at = logins.directory.clock.now();
  const user = await noteLogin(logins.directory.db, verified, new Date(at));
  if (user === undefined) return null;
  if (user.api_keys_suspended_at !== null && word === null) await resumeKeys(logins, user);
  return signedIn(logins, user, at, word);
}

/** Who signs in with a password is let in after all, and so are their API keys; unless they were shut out meanwhile. */
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

/** For those alone who proved that the account is theirs. */
async function refuseUnlessTaken(logins: PortalLogins, user: EndUserRow): Promise<void> {
  if (!user.is_active) throw new Refused(refuse("inactive_user"));
  if (!(await takesLocalPasswords(logins.directory.db, user.tenant_id))) throw new Refused(refuse("local_passwords_off"));
}

/**
 * Throws the same 401 whatever was wrong, after the same work, and `too_many_logins` with Retry-After; `inactive_user`
 * only to whoever knows the password.
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

/** The second step: a code of the authenticator or a backup code, each good once. */
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
  // Passwords may have been switched off since the first step.
  await refuseUnlessTaken(logins, found);
  const login = await completed(logins, found);
  if (login === null) throw wrong("wrong_code");
  return login;
}

/** Whoever an identity provider vouched for a moment ago, if they are still let in, until it said that the session ends. */
export async function signedOnUser(
  logins: PortalLogins,
  tenantId: string,
  { id, generation }: { readonly id: string; readonly generation: number },
  sessionEndsAt: number | null,
): Promise<PortalSession> {
  const user = await endUserStore.find(logins.directory.db, tenantId, id);
  const login = user === undefined ? null : await completed(logins, user, { sessionEndsAt });
  if (login === null) throw new Refused(refuse("inactive_user"));
  // Judged by the row that was noted: a sign-out under way is waited for there.
  if (login.user.tokens_valid_from.getTime() !== generation) throw signedOutMeanwhile();
  return login;
}

/** What a login answers. */
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

/** Runs `judge` within the throttle of what a signed-in user may guess of their own account. */
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
 * Ends every token of the user and answers a new one. A wrong current password is refused as a field of the body, and with
 * `local_passwords_off` whoever's tenant takes none, but for whom nothing else is open before they chose another.
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
    // Another one meanwhile, for example from an administrator who shuts somebody out: theirs stays.
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
