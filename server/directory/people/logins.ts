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

/** What the admin log files logins under. */
export const LOGIN_RESOURCE = "admin-users";
/** The reason of a refusal that the admin log has an entry of its own for. */
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

/** Who is signed in on the control plane. */
export interface Admin {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  /** Null: a system admin. */
  readonly tenantId: string | null;
  readonly permissions: ReadonlySet<Permission>;
  /** `owed`: the tenant asks for it and it is not set up, so that nothing else may be done before. */
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

/** The right password was given, and a code is still owed. */
export interface AdminCodeOwed {
  readonly tempToken: string;
  readonly user: { readonly id: string; readonly username: string };
}

/** `factorElsewhere`: as of their token. */
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

/** Whether a session or token of the row as it is now may be used, when it began under `generation`. */
export function admits(row: SignedInRow | undefined, generation: number): row is SignedInRow {
  return row !== undefined && row.is_active && row.tenant_enabled !== false && row.tokens_valid_from.getTime() === generation;
}

/** The admin a bearer token stands for, as the database has them now; why not, when it stands for nobody any more. */
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

/** Where the tenant took passwords away, only who breaks the glass still has one. */
export const takesPassword = (row: SignedInRow) => row.tenant_local_passwords !== false || row.break_glass;

/** The tenant meant by a login that names none: the only one that has the username, else `default`. */
export async function tenantOfLogin(directory: Directory, username: string): Promise<string> {
  const [only, another] = await tenantsWithAdmin(directory.db, username, 2);
  return only !== undefined && another === undefined ? only : DEFAULT_TENANT;
}

/** What the failures of an account are counted under. */
export const accountOfLogin = (kind: "tenant" | "system", tenantId: string | null, username: string): string =>
  JSON.stringify([kind, tenantId, usernameKey(username)]);

async function judge(
  logins: Logins,
  row: AdminUserRow | undefined,
  { password, tenantId: named }: { readonly password: string; readonly tenantId?: string | undefined },
  turn: HashingRequester,
): Promise<{ signedIn: SignedInRow } | { reason: string }> {
  // Nor does the work tell of whom there is who has no password here.
  if (row?.password_hash === NO_PASSWORD) {
    await logins.dummyVerify(password, turn);
    return { reason: "wrong_password" };
  }
  if (row === undefined) {
    // Together, so that no answer takes longer for it.
    const [isThere] = await Promise.all([
      named === undefined || tenantExists(logins.directory.db, named),
      logins.dummyVerify(password, turn),
    ]);
    return { reason: isThere ? "unknown_user" : "tenant_unknown" };
  }
  if (!(await logins.verifyPassword(password, row.password_hash, turn))) return { reason: "wrong_password" };
  const fresh = await adminWithTenant(logins.directory.db, row.id);
  // Given a new one while the old was being verified: a token now would outlive the change that was to end them all.
  if (fresh !== undefined && fresh.password_hash !== row.password_hash) return { reason: "wrong_password" };
  if (fresh === undefined || !fresh.is_active) return { reason: "inactive_user" };
  if (fresh.tenant_enabled === false) return { reason: "tenant_disabled" };
  if (!takesPassword(fresh)) return { reason: "local_passwords_off" };
  return { signedIn: fresh };
}

/**
 * Throws the same `unauthenticated` refusal whatever was wrong, after the same work, and `too_many_logins` with
 * Retry-After. What was wrong stands in the admin log, which has an entry for each attempt that was judged. It never has
 * the username of a stranger, which may be a password typed into the wrong field.
 */
export async function logInAdmin(
  logins: Logins,
  kind: "tenant" | "system",
  given: { username: string; password: string; tenantId?: string | undefined },
  origin: LoginOrigin,
): Promise<SignIn | AdminCodeOwed> {
  const { directory } = logins;
  // However an account is named, its failures are counted together.
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

/** What an identity provider said of an administrator. */
type ProviderWord = Pick<AdminToken, "sessionEndsAt" | "factorElsewhere">;
const NOTHING_SAID: ProviderWord = { sessionEndsAt: null, factorElsewhere: false };

/**
 * An administrator whom an identity provider vouched for a moment ago, if still let in, until it said that the session ends. Where the
 * tenant requires two factors and the provider asks for none, they owe their code as after a password.
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

/** The last step of every login: noted, logged, and answered with a token. */
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
 * Ends every token of the admin and answers a new one. Refuses a wrong current password as a field of the body, and with
 * `local_passwords_off` whose password the tenant takes no more.
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
      // Another one meanwhile, for example from an owner who shuts somebody out: theirs stays.
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
