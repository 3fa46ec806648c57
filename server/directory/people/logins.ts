import { permissionsOf, type Permission, type Role } from "@gatehouse/contracts/roles";
import { refuse, Refused } from "../../kernel/errors.ts";
import {
  adminByUsername,
  adminUserStore,
  adminWithTenant,
  tenantsWithAdmin,
  type SignedInRow,
  type AdminUserRow,
} from "../../store/people/admin-users.ts";
import { tenantExists } from "../../store/tenants/tenants.ts";
import { signedOutMeanwhile } from "../identity/vouched.ts";
import { invalidField, notFound } from "../writes/records.ts";
import { logEntries, write, type Actor, type Directory } from "../writes/write.ts";
import type { AdminToken, AdminTokens } from "./admin-tokens.ts";
import { nextGeneration } from "./admin-users.ts";
import { NO_PASSWORD } from "./no-password.ts";
import { hashingRequesterOf, type PasswordHashing, type HashingRequester } from "./portal/password-work.ts";
import { usernameKey, type LoginThrottle } from "./login-throttle.ts";

/** The resource name of logins in the admin log. */
export const LOGIN_RESOURCE = "admin-users";
/** A refusal with this reason already has its own admin log entry. */
export const LOGIN_FAILED = "login_failed";
const DEFAULT_TENANT = "default";

export interface Logins {
  readonly directory: Directory;
  readonly tokens: AdminTokens;
  readonly throttle: LoginThrottle;
  readonly verifyPassword: PasswordHashing["verifyPassword"];
  readonly dummyVerify: PasswordHashing["dummyVerify"];
  readonly hashCode: PasswordHashing["hashCode"];
  readonly verifyCode: PasswordHashing["verifyCode"];
}

/** The signed-in user of the control plane. */
export interface Admin {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  /** Null for a system admin. */
  readonly tenantId: string | null;
  readonly permissions: ReadonlySet<Permission>;
  /** `owed`: the tenant requires a second factor that is not set up yet, so nothing else is allowed. */
  readonly twoFactor: "on" | "off" | "owed";
}

export interface SignIn {
  readonly token: string;
  readonly expiresIn: number;
  readonly admin: Admin;
}

/** Where a login comes from. */
export interface LoginOrigin {
  readonly address: string;
  readonly requestId: string;
}

/** The password was correct, and a code is still required. */
export interface AdminCodeOwed {
  readonly tempToken: string;
  readonly user: { readonly id: string; readonly username: string };
}

/** `factorElsewhere`: see `AdminToken`. */
export function adminOf(row: SignedInRow, factorElsewhere: boolean): Admin {
  return {
    id: row.id,
    username: row.username,
    role: row.role as Role,
    tenantId: row.tenant_id,
    permissions: permissionsOf(row.role),
    twoFactor: row.totp_enabled ? "on" : row.admin_two_factor === "required" && !factorElsewhere ? "owed" : "off",
  };
}

/** Whether a session or token begun under `generation` is still valid for the current row. */
export function admits(row: SignedInRow | undefined, generation: number): row is SignedInRow {
  return row !== undefined && row.is_active && row.tenant_enabled !== false && row.tokens_valid_from.getTime() === generation;
}

/** The admin behind a bearer token, as currently in the database, or why the token is not accepted. */
export async function adminOfLogin(
  logins: Pick<Logins, "directory" | "tokens">,
  bearer: string,
): Promise<Admin | "credential_unknown" | "credential_expired"> {
  const token = await logins.tokens.verify(bearer);
  if (token === null) return "credential_unknown";
  if (token === "expired") return "credential_expired";
  const row = await adminWithTenant(logins.directory.db, token.userId);
  return admits(row, token.generation) ? adminOf(row, token.factorElsewhere) : "credential_unknown";
}

/** Once the tenant has disabled passwords, only break-glass accounts may use one. */
export const takesPassword = (row: SignedInRow) => row.tenant_local_passwords !== false || row.break_glass;

/** The tenant of a login that names none: the only one with the username, or else `default`. */
export async function tenantOfLogin(directory: Directory, username: string): Promise<string> {
  const [only, another] = await tenantsWithAdmin(directory.db, username, 2);
  return only !== undefined && another === undefined ? only : DEFAULT_TENANT;
}

/** The key under which an account's login failures are counted. */
export const accountOfLogin = (kind: "tenant" | "system", tenantId: string | null, username: string): string =>
  JSON.stringify([kind, tenantId, usernameKey(username)]);

async function judge(
  logins: Logins,
  row: AdminUserRow | undefined,
  { password, tenantId: named }: { readonly password: string; readonly tenantId?: string | undefined },
  turn: HashingRequester,
): Promise<{ signedIn: SignedInRow } | { reason: string }> {
  // Keeps the timing from revealing accounts without a password.
  if (row?.password_hash === NO_PASSWORD) {
    await logins.dummyVerify(password, turn);
    return { reason: "wrong_password" };
  }
  if (row === undefined) {
    // Concurrently, so that the lookup does not affect the timing.
    const [isThere] = await Promise.all([
      named === undefined || tenantExists(logins.directory.db, named),
      logins.dummyVerify(password, turn),
    ]);
    return { reason: isThere ? "unknown_user" : "tenant_unknown" };
  }
  if (!(await logins.verifyPassword(password, row.password_hash, turn))) return { reason: "wrong_password" };
  const fresh = await adminWithTenant(logins.directory.db, row.id);
  // The password changed during verification, and a token issued now would escape that revocation.
  if (fresh !== undefined && fresh.password_hash !== row.password_hash) return { reason: "wrong_password" };
  if (fresh === undefined || !fresh.is_active) return { reason: "inactive_user" };
  if (fresh.tenant_enabled === false) return { reason: "tenant_disabled" };
  if (!takesPassword(fresh)) return { reason: "local_passwords_off" };
  return { signedIn: fresh };
}

/**
 * Throws the same `unauthenticated` refusal after the same work, whatever was wrong, or `too_many_logins` with
 * Retry-After. The admin log has an entry with the actual reason for each attempt that was run. It never holds an unknown
 * username, which may be a password typed into the wrong field.
 */
export async function logInAdmin(
  logins: Logins,
  kind: "tenant" | "system",
  given: { username: string; password: string; tenantId?: string | undefined },
  origin: LoginOrigin,
): Promise<SignIn | AdminCodeOwed> {
  const { directory } = logins;
  // Resolved first, so that failures count together whether or not the tenant was named.
  const tenantId = kind === "system" ? null : (given.tenantId ?? (await tenantOfLogin(directory, given.username)));
  const account = accountOfLogin(kind, tenantId, given.username);
  let signIn: SignIn | AdminCodeOwed | undefined;
  const outcome = await logins.throttle.attempt(account, origin.address, async (turn) => {
    const row = await adminByUsername(directory.db, tenantId, given.username);
    const verdict = await judge(logins, row, given, turn);
    const actor: Actor = {
      id: row?.id ?? null,
      username: row?.username ?? null,
      role: row?.role ?? null,
      clientIp: origin.address,
      requestId: origin.requestId,
    };
    if ("reason" in verdict) {
      await logEntries(directory.db, actor, new Date(directory.clock.now()), [
        {
          tenant_id: row?.tenant_id ?? null,
          action: LOGIN_FAILED,
          resource: LOGIN_RESOURCE,
          resource_id: row?.id ?? null,
          after: { kind, reason: verdict.reason },
        },
      ]);
      return false;
    }
    const { id, username, totp_enabled: owesCode } = verdict.signedIn;
    signIn = owesCode
      ? { tempToken: await logins.tokens.issueSecondStep(verdict.signedIn), user: { id, username } }
      : await completeAdminLogin(logins, verdict.signedIn, actor, kind);
    return true;
  });
  if (!outcome.ran) throw tooManyLogins(outcome.retryAfter);
  if (signIn === undefined) throw new Refused(refuse("unauthenticated", undefined, { reason: LOGIN_FAILED }));
  return signIn;
}

/** What an identity provider asserted about an administrator's sign-in. */
type ProviderWord = Pick<AdminToken, "sessionEndsAt" | "factorElsewhere">;
const NOTHING_SAID: ProviderWord = { sessionEndsAt: null, factorElsewhere: false };

/**
 * Completes a sign-in that an identity provider just confirmed, if the admin is still admitted; the token is limited to
 * the provider's session. A code is still required if the tenant requires two factors and the provider does not.
 */
export async function signedOnAdmin(
  logins: Logins,
  adminId: string,
  generation: number,
  word: ProviderWord,
): Promise<SignIn | AdminCodeOwed> {
  const row = await adminWithTenant(logins.directory.db, adminId);
  if (row === undefined || !row.is_active || row.tenant_enabled === false) throw new Refused(refuse("inactive_user"));
  if (!admits(row, generation)) throw signedOutMeanwhile();
  if (row.admin_two_factor !== "required" || word.factorElsewhere || !row.totp_enabled) return issue(logins, row, word);
  const { id, username } = row;
  return { tempToken: await logins.tokens.issueSecondStep(row, { sessionEndsAt: word.sessionEndsAt }), user: { id, username } };
}

/** The last step of a login: recorded, logged, and answered with a token. */
export async function completeAdminLogin(
  logins: Logins,
  row: SignedInRow,
  actor: Actor,
  kind: "tenant" | "system" | "sign_on",
  sessionEndsAt: number | null = null,
): Promise<SignIn> {
  await write(logins.directory, actor, async (change) => {
    await adminUserStore.update(change.trx, row.id, { last_login: change.now });
    change.log({
      tenant_id: row.tenant_id,
      action: "login",
      resource: LOGIN_RESOURCE,
      resource_id: row.id,
      after: { kind, ...(row.tenant_local_passwords === false && kind !== "sign_on" ? { break_glass: true } : {}) },
    });
  });
  return issue(logins, row, { sessionEndsAt, factorElsewhere: false });
}

async function issue({ tokens, directory }: Logins, row: SignedInRow, word = NOTHING_SAID): Promise<SignIn> {
  const { sessionEndsAt, factorElsewhere } = word;
  const left = sessionEndsAt === null ? tokens.expirySeconds : Math.max(0, Math.floor((sessionEndsAt - directory.clock.now()) / 1000));
  return { token: await tokens.issue(row, word), expiresIn: Math.min(tokens.expirySeconds, left), admin: adminOf(row, factorElsewhere) };
}

export function tooManyLogins(retryAfter: number): Refused {
  return new Refused(refuse("too_many_logins", undefined, { headers: { "retry-after": String(retryAfter) } }));
}

/**
 * Revokes all the admin's tokens and returns a new one. Refuses a wrong current password as a field error, and with
 * `local_passwords_off` if the tenant no longer accepts the admin's password.
 */
export async function changeAdminPassword(
  logins: Logins,
  admin: Admin,
  given: { current: string; next: string },
  origin: LoginOrigin,
): Promise<SignIn> {
  const { directory } = logins;
  const actor: Actor = { id: admin.id, username: admin.username, role: admin.role, clientIp: origin.address, requestId: origin.requestId };
  let signIn: SignIn | undefined;
  const outcome = await logins.throttle.attempt(JSON.stringify(["change", admin.id]), origin.address, async () => {
    const row = await adminWithTenant(directory.db, admin.id);
    if (row === undefined) throw notFound("admin user");
    if (!takesPassword(row)) throw new Refused(refuse("local_passwords_off"));
    if (!(await logins.verifyPassword(given.current, row.password_hash, hashingRequesterOf(admin)))) {
      await logEntries(directory.db, actor, new Date(directory.clock.now()), [
        {
          tenant_id: row.tenant_id,
          action: "change_password_failed",
          resource: LOGIN_RESOURCE,
          resource_id: row.id,
          after: { reason: "wrong_password" },
        },
      ]);
      return false;
    }
    const password_hash = await directory.hashPassword(given.next);
    const changed = await write(directory, actor, async (change) => {
      const current = await adminUserStore.find(change.trx, null, row.id, "lock");
      // A password set in the meantime, for example by an owner locking somebody out, is kept.
      if (current?.password_hash !== row.password_hash) throw invalidField("current_password", "is wrong");
      const tokens_valid_from = nextGeneration(current, change.now);
      await adminUserStore.update(change.trx, row.id, { password_hash, tokens_valid_from, updated_at: change.now });
      change.log({
        tenant_id: row.tenant_id,
        action: "change_password",
        resource: LOGIN_RESOURCE,
        resource_id: row.id,
        after: { password: "***" },
      });
      return { ...row, tokens_valid_from };
    });
    signIn = await issue(logins, changed);
    return true;
  });
  if (!outcome.ran) throw tooManyLogins(outcome.retryAfter);
  if (signIn === undefined) throw invalidField("current_password", "is wrong");
  return signIn;
}
