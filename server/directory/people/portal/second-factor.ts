import { refuse, Refused } from "../../../kernel/errors.ts";
import { personFactorContext } from "../../../kernel/seal-contexts.ts";
import { endUserStore, type EndUserPatch, type EndUserRow } from "../../../store/people/end-users.ts";
import { putBackupCodes, unusedBackupCodes } from "../../../store/people/second-factors.ts";
import { invalidField, notFound } from "../../writes/records.ts";
import { write, type Write } from "../../writes/write.ts";
import { END_USERS, notifyUser } from "../end-users.ts";
import { type EnrolmentProof, proveEnrolment } from "../enrolment-proof.ts";
import { takesLocalPasswords } from "../local-passwords.ts";
import { NO_PASSWORD } from "../no-password.ts";
import { newBackupCodes, readBackupCode } from "./backup-codes.ts";
import { codeIsRight, totpIsRight } from "./code-check.ts";
import { hashingRequesterOf } from "./password-work.ts";
import { reauthenticate, userActor, userRow, type PortalOrigin, type PortalLogins } from "./portal-logins.ts";
import { newTotpSecret, otpauthUrl } from "./totp.ts";

interface Who {
  readonly tenantId: string;
  readonly userId: string;
}

export async function secondFactorStatus(
  logins: PortalLogins,
  who: Who,
): Promise<{ enabled: boolean; pending: boolean; backup_codes_remaining: number }> {
  const user = await userRow(logins, who.tenantId, who.userId);
  const remaining = user.totp_enabled ? await unusedBackupCodes(logins.directory.db, user.id) : 0;
  return { enabled: user.totp_enabled, pending: !user.totp_enabled && user.totp_secret_sealed !== null, backup_codes_remaining: remaining };
}

/** Changes the user's second factor and logs that. The log holds nothing of the factor itself. */
async function changeFactor(
  logins: PortalLogins,
  who: Who,
  origin: PortalOrigin,
  action: string,
  patchOf: (row: EndUserRow, change: Write) => Promise<EndUserPatch>,
): Promise<void> {
  const user = await userRow(logins, who.tenantId, who.userId);
  await write(logins.directory, userActor(user, origin), async (change) => {
    const row = await endUserStore.find(change.trx, who.tenantId, who.userId, "lock");
    if (row === undefined) throw notFound("user");
    const patch = await patchOf(row, change);
    await endUserStore.update(change.trx, row.id, { ...patch, updated_at: change.now });
    change.log({
      tenant_id: row.tenant_id,
      action,
      resource: END_USERS,
      resource_id: row.id,
      before: { totp_enabled: row.totp_enabled },
      after: { totp_enabled: patch.totp_enabled ?? row.totp_enabled },
    });
    notifyUser(change, row);
  });
  logins.users.drop(who.tenantId, who.userId);
}

const wrongState = (message: string) => new Refused(refuse("two_factor_state", message));

/** Creates a secret and ten backup codes, returned only here. They take effect once a code generated from the secret is confirmed. */
export async function beginSecondFactor(
  logins: PortalLogins,
  who: Who,
  proof: EnrolmentProof,
  origin: PortalOrigin,
): Promise<{ secret: string; otpauth_url: string; backup_codes: string[] }> {
  const user = await userRow(logins, who.tenantId, who.userId);
  if (user.totp_enabled) throw wrongState("Two-factor login is on already. Switch it off first.");
  await proveEnrolment(logins.directory.clock, proof, {
    hasPassword: user.password_hash !== NO_PASSWORD && (await takesLocalPasswords(logins.directory.db, who.tenantId)),
    isRight: (password) =>
      reauthenticate(logins, who.userId, origin, () =>
        logins.hashing.verifyPassword(password, user.password_hash, hashingRequesterOf(user)),
      ),
  });
  const secret = newTotpSecret();
  const codes = newBackupCodes();
  const hashes = await Promise.all(
    codes.map((code) => logins.hashing.hashCode(readBackupCode(code)?.text ?? "", hashingRequesterOf(user))),
  );
  const sealed = logins.directory.secrets.seal(secret, personFactorContext(user.id));
  await changeFactor(logins, who, origin, "begin_2fa", async (row, change) => {
    if (row.totp_enabled) throw wrongState("Two-factor login is on already. Switch it off first.");
    await putBackupCodes(change.trx, row.id, hashes);
    return { totp_secret_sealed: sealed };
  });
  return { secret, otpauth_url: otpauthUrl(secret, user.username), backup_codes: codes };
}

export async function confirmSecondFactor(logins: PortalLogins, who: Who, code: string, origin: PortalOrigin): Promise<void> {
  const user = await userRow(logins, who.tenantId, who.userId);
  if (user.totp_enabled || user.totp_secret_sealed === null)
    throw wrongState(user.totp_enabled ? "Two-factor login is on already." : "Begin with /auth/2fa/setup.");
  if (!(await reauthenticate(logins, who.userId, origin, () => totpIsRight(logins, user, code))))
    throw invalidField("code", "is wrong, or was used before");
  await changeFactor(logins, who, origin, "enable_2fa", async (row) => {
    if (row.totp_secret_sealed !== user.totp_secret_sealed) throw wrongState("Two-factor login was set up anew meanwhile.");
    return { totp_enabled: true };
  });
}

/** Requires a code or the password, so that a token alone cannot disable the second factor. */
export async function disableSecondFactor(
  logins: PortalLogins,
  who: Who,
  given: { code?: string | undefined; password?: string | undefined },
  origin: PortalOrigin,
): Promise<void> {
  const user = await userRow(logins, who.tenantId, who.userId);
  const { code, password } = given;
  const right = await reauthenticate(logins, who.userId, origin, async () => {
    if (password !== undefined && !(await logins.hashing.verifyPassword(password, user.password_hash, hashingRequesterOf(user))))
      return false;
    return code === undefined || (await codeIsRight(logins, user, code));
  });
  if (!right) throw invalidField(code === undefined ? "password" : "code", "is wrong, or was used before");
  await changeFactor(logins, who, origin, "disable_2fa", async (row, change) => {
    // A password or second factor set in the meantime is kept, and what was presented is no longer valid.
    if (row.password_hash !== user.password_hash || row.totp_secret_sealed !== user.totp_secret_sealed)
      throw invalidField(code === undefined ? "password" : "code", "is wrong, or was used before");
    await putBackupCodes(change.trx, row.id, []);
    return { totp_enabled: false, totp_secret_sealed: null };
  });
}
