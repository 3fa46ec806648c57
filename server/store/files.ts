import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "./database.ts";
import { hasId } from "./has-id.ts";
import type { Page, Paged } from "./paging.ts";
import type { FileTable } from "./tables/files.ts";

export type FileRow = Selectable<FileTable>;

/** Whose files: those a group's keys made, or those a person made. */
export interface FileOwner {
  readonly tenantId: string;
  readonly groupId: string;
  readonly userId: string | null;
}

export interface FileFilter {
  readonly kind?: string | undefined;
  /** What was said at the upload, or, of files of which nothing was said, what their kinds stand for. */
  readonly purpose?: { readonly said: string; readonly kinds: readonly string[] } | undefined;
  readonly chatId?: string | undefined;
  /** Those of them that are there. */
  readonly ids?: readonly string[] | undefined;
}

/** A person reaches their own in whatever group they made them; a key those that keys of its group made. */
export const ownedBy = (owner: FileOwner) =>
  owner.userId === null
    ? sql<boolean>`tenant_id = ${owner.tenantId} AND resource_group_id = ${owner.groupId} AND end_user_id IS NULL`
    : sql<boolean>`tenant_id = ${owner.tenantId} AND end_user_id = ${owner.userId}`;

/** A file whose time is over is gone for its readers before the worker comes by. */
const alive = (now: Date) => sql<boolean>`deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;

export async function findFile(db: Database, owner: FileOwner, id: string, now: Date): Promise<FileRow | undefined> {
  return db.selectFrom("files").selectAll().where(hasId(id)).where(ownedBy(owner)).where(alive(now)).executeTakeFirst();
}

/** Whoever asks shows by a signature for this tenant and file that they may. */
export async function findSignedFile(db: Database, id: string, now: Date): Promise<FileRow | undefined> {
  return db.selectFrom("files").selectAll().where(hasId(id)).where(alive(now)).executeTakeFirst();
}

export async function countAccess(db: Database, tenantId: string, id: string): Promise<void> {
  await db
    .updateTable("files")
    .set((eb) => ({ access_count: eb("access_count", "+", 1) }))
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .execute();
}

/** Newest first; with `after` those older than it. */
export async function listFiles(
  db: Database,
  owner: FileOwner,
  filter: FileFilter,
  page: Page & { readonly after?: string | undefined; readonly before?: string | undefined; readonly oldestFirst?: boolean },
  now: Date,
): Promise<Paged<FileRow>> {
  let found = db.selectFrom("files").where(ownedBy(owner)).where(alive(now));
  if (filter.kind !== undefined) found = found.where("kind", "=", filter.kind);
  if (filter.purpose !== undefined) {
    const { said, kinds } = filter.purpose;
    found = found.where(sql<boolean>`coalesce(purpose = ${said}, kind = ANY(${[...kinds]}::text[]))`);
  }
  if (filter.chatId !== undefined) found = found.where("chat_id", "=", filter.chatId);
  if (filter.ids !== undefined) found = found.where("id", "in", [...filter.ids]);
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  if (page.after !== undefined) found = found.where("id", page.oldestFirst === true ? ">" : "<", page.after);
  if (page.before !== undefined) found = found.where("id", ">", page.before);
  const items = await found
    .selectAll()
    .orderBy("id", page.oldestFirst === true || page.before !== undefined ? "asc" : "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  // What stands before is found from there, and shown as everything else is.
  return { items: page.before === undefined ? items : items.toReversed(), total: Number(total) };
}

/** From then on its bytes stay: they are no upload under way any more. */
export async function recordFile(trx: Trx, file: Insertable<FileTable>): Promise<FileRow> {
  await trx.deleteFrom("blobs_to_remove").where("key", "=", file.id).execute();
  return trx.insertInto("files").values(file).returningAll().executeTakeFirstOrThrow();
}

/** Bytes of all files of a group that are there; whoever asks in a transaction is alone with the group until its end. */
export async function storedBytesOfGroup(trx: Trx, groupId: string, now: Date): Promise<number> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`files of ${groupId}`}, 0))`.execute(trx);
  const { total } = await trx
    .selectFrom("files")
    .where("resource_group_id", "=", groupId)
    .where(alive(now))
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>("size_bytes"), sql<number>`0`).as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Ids of those that were there and are deleted now. */
export async function deleteFiles(
  db: Database,
  owner: FileOwner,
  which: { readonly id: string } | { readonly chatId: string },
  now: Date,
): Promise<string[]> {
  const deleted = await db
    .updateTable("files")
    .set({ deleted_at: now })
    .where(ownedBy(owner))
    .where(alive(now))
    .where("id" in which ? hasId(which.id) : sql<boolean>`chat_id = ${which.chatId}`)
    .returning("id")
    .execute();
  return deleted.map(({ id }) => id);
}

/** Marks what has expired, and forgets the records whose tenant keeps rows no longer than that. */
export async function sweepFiles(db: Database, now: Date): Promise<void> {
  await db.updateTable("files").set({ deleted_at: now }).where("deleted_at", "is", null).where("expires_at", "<=", now).execute();
  await sql`
    DELETE FROM files f USING tenants t
     WHERE t.id = f.tenant_id AND f.deleted_at < ${now}::timestamptz - (t.data_retention->>'log_days')::int * interval '1 day'`.execute(db);
}

export async function noteUpload(db: Database, key: string, dueAt: Date): Promise<void> {
  await db.insertInto("blobs_to_remove").values({ key, due_at: dueAt }).execute();
}

export async function removeSoon(db: Database, key: string): Promise<void> {
  await db
    .updateTable("blobs_to_remove")
    .set({ due_at: sql`now()` })
    .where("key", "=", key)
    .execute();
}

/** Takes some of what is due and hands it to `remove`; keys are forgotten once that has returned them as removed. */
export async function removeDue(db: Database, most: number, remove: (keys: string[]) => Promise<string[]>): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const due = await trx
      .selectFrom("blobs_to_remove")
      .select("key")
      .where("due_at", "<=", sql<Date>`now()`)
      .orderBy("due_at")
      .limit(most)
      .forUpdate()
      .skipLocked()
      .execute();
    if (due.length === 0) return 0;
    const removed = await remove(due.map(({ key }) => key));
    if (removed.length > 0) await trx.deleteFrom("blobs_to_remove").where("key", "in", removed).execute();
    return removed.length;
  });
}
