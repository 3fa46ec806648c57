import { refuse, Refused } from "../../kernel/errors.ts";
import { adminFactorContext } from "../../kernel/seal-contexts.ts";
import {
  adminBackupCodeHash,
  putAdminBackupCodes,
  takeAdminStep,
  unusedAdminBackupCodes,
  useAdminBackupCode,
} from "../../store/people/admin-second-factors.ts";
import {
  adminUserStore,
  adminWithTenant,
  type AdminUserPatch,
  type AdminUserRow,
  type SignedInRow,
} from "../../store/people/admin-users.ts";
import { invalidField, notFound } from "../writes/records.ts";
import { write, type Actor, type Write } from "../writes/write.ts";
import { isOwnPassword } from "./is-own-password.ts";
import { type EnrolmentProof, proveEnrolment } from "./enrolment-proof.ts";
import { LOGIN_RESOURCE, takesPassword, tooManyLogins, type Admin, type LoginOrigin, type Logins } from "./logins.ts";
import { NO_PASSWORD } from "./no-password.ts";
import { newBackupCodes, readBackupCode } from "./portal/backup-codes.ts";
import { hashingRequesterOf } from "./portal/password-work.ts";
import { newTotpSecret, otpauthUrl, stepOfCode } from "./portal/totp.ts";

const wrongState = (message: string) => new Refused(refuse("two_factor_state", message));

export interface AdminFactorStatus {
  readonly enabled: boolean;
  readonly pending: boolean;
  readonly backup_codes_remaining: number;
  readonly has_password: boolean;
}

/** Whether the code is from the admin's authenticator or is an unused backup code. A correct code is consumed. */
export async function adminCodeIsRight(logins: Logins, row: AdminUserRow, code: string): Promise<boolean> {
  const { directory } = logins;
  if (/^\d{6}$/.test(code)) {
    const secret = directory.secrets.openOrNull(row.totp_secret_sealed, adminFactorContext(row.id));
    const step = secret === null ? null : stepOfCode(secret, code, directory.clock.now());
    return step !== null && (await takeAdminStep(directory.db, row.id, step));
  }
  const read = readBackupCode(code);
  const hash = read === null ? undefined : await adminBackupCodeHash(directory.db, row.id, read.slot);
  if (read === null || hash === undefined || !(await logins.verifyCode(read.text, hash, hashingRequesterOf(row)))) return false;
  return useAdminBackupCode(directory.db, row.id, read.slot, new Date(directory.clock.now()));
}

/** Whether the admin can sign in with a password. */
const hasPassword = (row: SignedInRow): boolean => row.password_hash !== NO_PASSWORD && takesPassword(row);

async function rowOf({ directory }: Logins, admin: Pick<Admin, "id">): Promise<SignedInRow> {
  const row = await adminWithTenant(directory.db, admin.id);
  if (row === undefined) throw notFound("admin user");
  return row;
}

export async function adminFactorStatus(logins: Logins, admin: Pick<Admin, "id">): Promise<AdminFactorStatus> {
  const row = await rowOf(logins, admin);
  return {
    enabled: row.totp_enabled,
    pending: !row.totp_enabled && row.totp_secret_sealed !== null,
    backup_codes_remaining: row.totp_enabled ? await unusedAdminBackupCodes(logins.directory.db, row.id) : 0,
    has_password: hasPassword(row),
  };
}

/** Changes the admin's second factor and logs that. The log holds nothing of the factor itself. */
async function changeAdminFactor(
  logins: Logins,
  { row, actor, action }: { readonly row: AdminUserRow; readonly actor: Actor; readonly action: string },
  patchOf: (current: AdminUserRow, change: Write) => Promise<AdminUserPatch>,
): Promise<void> {
  await write(logins.directory, actor, async (change) => {
    const current = await adminUserStore.find(change.trx, null, row.id, "lock");
    if (current === undefined) throw notFound("admin user");
    const patch = await patchOf(current, change);
    await adminUserStore.update(change.trx, row.id, { ...patch, updated_at: change.now });
    change.log({
      tenant_id: row.tenant_id,
      action,
      resource: LOGIN_RESOURCE,
      resource_id: row.id,
      before: { totp_enabled: current.totp_enabled },
      after: { totp_enabled: patch.totp_enabled ?? current.totp_enabled },
    });
  });
}

/** Creates a secret and ten backup codes, returned only here. They take effect once a code generated from the secret is confirmed. */
export async function beginAdminFactor(
  logins: Logins,
  admin: Admin,
  proof: EnrolmentProof,
  { actor, origin }: { actor: Actor; origin: LoginOrigin },
): Promise<{ secret: string; otpauth_url: string; backup_codes: string[] }> {
  const row = await rowOf(logins, admin);
  await proveEnrolment(logins.directory.clock, proof, {
    hasPassword: hasPassword(row),
    isRight: (password) => judged(logins, admin, origin, () => isOwnPassword(logins, row, password, { actor, action: "begin_2fa_failed" })),
  });
  const secret = newTotpSecret();
  const codes = newBackupCodes();
  const hashes = await Promise.all(codes.map((code) => logins.hashCode(readBackupCode(code)?.text ?? "", hashingRequesterOf(row))));
  const sealed = logins.directory.secrets.seal(secret, adminFactorContext(row.id));
  await changeAdminFactor(logins, { row, actor, action: "begin_2fa" }, async (current, change) => {
    if (current.totp_enabled) throw wrongState("Two-factor sign-in is on already. Switch it off first.");
    await putAdminBackupCodes(change.trx, row.id, hashes);
    return { totp_secret_sealed: sealed };
  });
  return { secret, otpauth_url: otpauthUrl(secret, row.username), backup_codes: codes };
}

/** Runs `judge` under the throttle for guesses that a signed-in admin makes about their own account. */
async function judged(logins: Logins, admin: Admin, origin: LoginOrigin, judge: () => Promise<boolean>): Promise<boolean> {
  let right = false;
  const outcome = await logins.throttle.attempt(JSON.stringify(["own", admin.id]), origin.address, async () => {
    right = await judge();
    return right;
  });
  if (!outcome.ran) throw tooManyLogins(outcome.retryAfter);
  return right;
}

export async function confirmAdminFactor(
  logins: Logins,
  admin: Admin,
  code: string,
  by: { actor: Actor; origin: LoginOrigin },
): Promise<void> {
  const row = await rowOf(logins, admin);
  if (row.totp_enabled || row.totp_secret_sealed === null)
    throw wrongState(row.totp_enabled ? "Two-factor sign-in is on already." : "Set it up first.");
  const isCode = /^\d{6}$/.test(code);
  if (!(await judged(logins, admin, by.origin, async () => isCode && adminCodeIsRight(logins, row, code))))
    throw invalidField("code", "is wrong, or was used before");
  await changeAdminFactor(logins, { row, actor: by.actor, action: "enable_2fa" }, async (current) => {
    if (current.totp_secret_sealed !== row.totp_secret_sealed) throw wrongState("Two-factor sign-in was set up anew meanwhile.");
    return { totp_enabled: true };
  });
}

/** Requires a code, so that a token alone cannot disable the second factor. */
export async function disableAdminFactor(
  logins: Logins,
  admin: Admin,
  code: string,
  by: { actor: Actor; origin: LoginOrigin },
): Promise<void> {
  const row = await rowOf(logins, admin);
  if (!(await judged(logins, admin, by.origin, () => adminCodeIsRight(logins, row, code))))
    throw invalidField("code", "is wrong, or was used before");
  await changeAdminFactor(logins, { row, actor: by.actor, action: "disable_2fa" }, async (current, change) => {
    if (current.totp_secret_sealed !== row.totp_secret_sealed) throw invalidField("code", "is wrong, or was used before");
    await putAdminBackupCodes(change.trx, row.id, []);
    return { totp_enabled: false, totp_secret_sealed: null };
  });
}
