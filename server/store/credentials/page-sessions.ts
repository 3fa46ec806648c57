import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { PageSessionTable } from "../tables/people.ts";

export type PageSessionRow = Selectable<PageSessionTable>;

export async function addPageSession(db: Database | Trx, row: Insertable<PageSessionTable>): Promise<void> {
  await db.insertInto("page_sessions").values(row).execute();
}

/** Locks the session until the transaction ends. */
export async function lockPageSession(trx: Trx, id: string): Promise<PageSessionRow | undefined> {
  return trx.selectFrom("page_sessions").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function rotatePageSession(
  trx: Trx,
  id: string,
  next: Pick<PageSessionRow, "secret_hash" | "previous_hash" | "rotated_at" | "expires_at">,
): Promise<void> {
  await trx.updateTable("page_sessions").set(next).where("id", "=", id).execute();
}

export async function removePageSession(db: Database | Trx, id: string): Promise<void> {
  await db.deleteFrom("page_sessions").where("id", "=", id).execute();
}

export async function removePageSessionsOf(
  db: Database | Trx,
  holder: { readonly column: "end_user_id" | "admin_user_id"; readonly id: string },
): Promise<void> {
  await db.deleteFrom("page_sessions").where(holder.column, "=", holder.id).execute();
}

export async function prunePageSessions(db: Database, now: Date): Promise<void> {
  await db.deleteFrom("page_sessions").where("expires_at", "<", now).execute();
}
