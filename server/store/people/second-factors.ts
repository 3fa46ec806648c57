import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

/** True for exactly one of all attempts with a code of this time step or an older one. */
export async function takeStep(db: Database | Trx, userId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("end_users")
    .set({ totp_last_step: step })
    .where("id", "=", userId)
    .where(sql<boolean>`coalesce(totp_last_step, -1) < ${step}`)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function putBackupCodes(trx: Trx, userId: string, hashes: readonly string[]): Promise<void> {
  await trx.deleteFrom("end_user_backup_codes").where("end_user_id", "=", userId).execute();
  if (hashes.length > 0)
    await trx
      .insertInto("end_user_backup_codes")
      .values(hashes.map((code_hash, slot) => ({ end_user_id: userId, slot, code_hash, used_at: null })))
      .execute();
}

/** The hash in a slot whose code is unused. */
export async function backupCodeHash(db: Database, userId: string, slot: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("end_user_backup_codes")
    .select("code_hash")
    .where("end_user_id", "=", userId)
    .where("slot", "=", slot)
    .where("used_at", "is", null)
    .executeTakeFirst();
  return row?.code_hash;
}

/** True for exactly one of all uses of the code. */
export async function useBackupCode(db: Database, userId: string, slot: number, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("end_user_backup_codes")
    .set({ used_at: now })
    .where("end_user_id", "=", userId)
    .where("slot", "=", slot)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function unusedBackupCodes(db: Database, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom("end_user_backup_codes")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("end_user_id", "=", userId)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}
