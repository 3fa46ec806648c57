import { personFactorContext } from "../../../kernel/seal-contexts.ts";
import type { EndUserRow } from "../../../store/people/end-users.ts";
import { backupCodeHash, takeStep, useBackupCode } from "../../../store/people/second-factors.ts";
import type { Directory } from "../../writes/write.ts";
import { readBackupCode } from "./backup-codes.ts";
import { hashingRequesterOf, type PasswordHashing } from "./password-work.ts";
import { stepOfCode } from "./totp.ts";

interface CodeCheckParts {
  readonly directory: Directory;
  readonly hashing: PasswordHashing;
}

/** A correct code is consumed: of concurrent checks only one succeeds. */
export async function totpIsRight({ directory }: CodeCheckParts, user: EndUserRow, code: string): Promise<boolean> {
  const secret = directory.secrets.openOrNull(user.totp_secret_sealed, personFactorContext(user.id));
  if (secret === null) return false;
  const step = stepOfCode(secret, code, directory.clock.now());
  return step !== null && (await takeStep(directory.db, user.id, step));
}

async function backupCodeIsRight({ directory, hashing }: CodeCheckParts, user: EndUserRow, code: string): Promise<boolean> {
  const read = readBackupCode(code);
  if (read === null) return false;
  const hash = await backupCodeHash(directory.db, user.id, read.slot);
  if (hash === undefined || !(await hashing.verifyCode(read.text, hash, hashingRequesterOf(user)))) return false;
  return useBackupCode(directory.db, user.id, read.slot, new Date(directory.clock.now()));
}

/** Whether the code is from the user's authenticator or is an unused backup code. A correct code is consumed. */
export async function codeIsRight(parts: CodeCheckParts, user: EndUserRow, code: string): Promise<boolean> {
  return /^\d{6}$/.test(code) ? totpIsRight(parts, user, code) : backupCodeIsRight(parts, user, code);
}
