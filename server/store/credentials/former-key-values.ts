import type { Database, Trx } from "../database.ts";

/** Keeps a key value older than `previous_hash` until its grace period ends. */
export async function keepFormerValue(trx: Trx, value: { key_hash: string; api_key_id: string; valid_until: Date }): Promise<void> {
  await trx.insertInto("former_key_values").values(value).execute();
}

/** Hashes of the former values that are still kept for these keys. */
export async function formerValuesOf(db: Database | Trx, keyIds: readonly string[]): Promise<string[]> {
  if (keyIds.length === 0) return [];
  const rows = await db.selectFrom("former_key_values").select("key_hash").where("api_key_id", "in", keyIds).execute();
  return rows.map((row) => row.key_hash);
}

/** Safe to run in many processes at once. */
export async function pruneFormerValues(db: Database, now: Date): Promise<void> {
  await db.deleteFrom("former_key_values").where("valid_until", "<=", now).execute();
}
