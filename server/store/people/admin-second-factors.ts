import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

/** True for exactly one of all attempts with a code of this time step or an older one. */
export async function takeAdminStep(db: Database, adminId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("admin_users")
    .set({ totp_last_step: step })
    .where("id", "=", adminId)
    .where(sql<boolean>`coalesce(totp_last_step, -1) < ${step}`)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function putAdminBackupCodes(trx: Trx, adminId: string, hashes: readonly string[]): Promise<void> {
  await trx.deleteFrom("admin_backup_codes").where("admin_user_id", "=", adminId).execute();
  if (hashes.length > 0)
    await trx
      .insertInto("admin_backup_codes")
      .values(hashes.map((code_hash, slot) => ({ admin_user_id: adminId, slot, code_hash, used_at: null })))
      .execute();
}

/** The hash in a slot whose code is unused. */
export async function adminBackupCodeHash(db: Database, adminId: string, slot: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("admin_backup_codes")
    .select("code_hash")
    .where("admin_user_id", "=", adminId)
    .where("slot", "=", slot)
    .where("used_at", "is", null)
    .executeTakeFirst();
  return row?.code_hash;
}

/** True for exactly one of all uses of the code. */
export async function useAdminBackupCode(db: Database, adminId: string, slot: number, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("admin_backup_codes")
    .set({ used_at: now })
    .where("admin_user_id", "=", adminId)
    .where("slot", "=", slot)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function unusedAdminBackupCodes(db: Database, adminId: string): Promise<number> {
  const { count } = await db
    .selectFrom("admin_backup_codes")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("admin_user_id", "=", adminId)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}
