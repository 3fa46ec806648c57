import type { Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { IdempotentAnswerTable } from "../tables/people.ts";

export type IdempotentAnswerRow = Selectable<IdempotentAnswerTable>;

type OfKey = Pick<IdempotentAnswerRow, "admin_id" | "key_hash">;

/** Only an answer made after `since`. */
export async function idempotentAnswer(db: Database | Trx, of: OfKey, since: Date): Promise<IdempotentAnswerRow | undefined> {
  return db
    .selectFrom("idempotent_answers")
    .selectAll()
    .where("admin_id", "=", of.admin_id)
    .where("key_hash", "=", of.key_hash)
    .where("made_at", ">", since)
    .executeTakeFirst();
}

/** Replaces an expired answer. */
export async function putIdempotentAnswer(trx: Trx, row: IdempotentAnswerRow): Promise<void> {
  const { admin_id: _admin, key_hash: _key, ...rest } = row;
  await trx
    .insertInto("idempotent_answers")
    .values(row)
    .onConflict((conflict) => conflict.columns(["admin_id", "key_hash"]).doUpdateSet(rest))
    .execute();
}

export async function finishIdempotentAnswer(db: Database, of: OfKey, answerSealed: string): Promise<void> {
  await db
    .updateTable("idempotent_answers")
    .set({ answer_sealed: answerSealed, is_final: true })
    .where("admin_id", "=", of.admin_id)
    .where("key_hash", "=", of.key_hash)
    .execute();
}

/** Deletes answers about a record that is being deleted, because they may contain personal data. */
export async function forgetIdempotentAnswersOf(trx: Trx, recordId: string): Promise<void> {
  await trx.deleteFrom("idempotent_answers").where("record_id", "=", recordId).execute();
}

/** Safe to run in many processes at once. */
export async function pruneIdempotentAnswers(db: Database, before: Date): Promise<void> {
  await db.deleteFrom("idempotent_answers").where("made_at", "<=", before).execute();
}
