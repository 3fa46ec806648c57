import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { hasId } from "../records/has-id.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { FileTable } from "../tables/files.ts";

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
  const total = await totalOf(found);
  if (page.after !== undefined) found = found.where("id", page.oldestFirst === true ? ">" : "<", page.after);
  if (page.before !== undefined) found = found.where("id", ">", page.before);
  const items = await found
    .selectAll()
    .orderBy("id", page.oldestFirst === true || page.before !== undefined ? "asc" : "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  // What stands before is found from there, and shown as everything else is.
  return { items: page.before === undefined ? items : items.toReversed(), total };
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

export async function noteUpload(db: Database, key: string, dueAt: Date, directory: string | null): Promise<void> {
  await db.insertInto("blobs_to_remove").values({ key, due_at: dueAt, directory }).execute();
}

export async function removeSoon(db: Database, key: string): Promise<void> {
  await db
    .updateTable("blobs_to_remove")
    .set({ due_at: sql`now()` })
    .where("key", "=", key)
    .execute();
}

export interface DueBlob {
  readonly key: string;
  readonly directory: string | null;
  /** Every process that lives has had its turn with it. */
  readonly isOld: boolean;
}

/**
 * Takes some of what is due and hands it to `remove`; keys are forgotten once that has returned them as removed. A process with a
 * directory leaves what lies in those of others to them; one without reaches all there is.
 */
export async function removeDue(
  db: Database,
  directory: string | null,
  most: number,
  remove: (due: DueBlob[]) => Promise<string[]>,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const due = await trx
      .selectFrom("blobs_to_remove")
      .select(["key", "directory", sql<boolean>`due_at < now() - interval '1 day'`.as("isOld")])
      .where("due_at", "<=", sql<Date>`now()`)
      .$if(directory !== null, (found) => found.where((eb) => eb.or([eb("directory", "=", directory), eb("directory", "is", null)])))
      // Those that may be another's are tried again and again, and must not keep out its own.
      .orderBy(sql`directory IS NULL`)
      .orderBy("due_at")
      .limit(most)
      .forUpdate()
      .skipLocked()
      .execute();
    if (due.length === 0) return 0;
    const removed = await remove(due);
    if (removed.length > 0) await trx.deleteFrom("blobs_to_remove").where("key", "in", removed).execute();
    return removed.length;
  });
}

/** Notes that a process with this directory lives, and says whether one with another has done so within minutes. */
export async function noteFileDirectory(db: Database, id: string): Promise<boolean> {
  await sql`
    INSERT INTO file_directories (id, seen_at) VALUES (${id}, now()) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`.execute(db);
  await sql`DELETE FROM file_directories WHERE seen_at < now() - interval '1 day'`.execute(db);
  const { rows } = await sql`SELECT FROM file_directories WHERE id <> ${id} AND seen_at > now() - interval '3 minutes' LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Forgets what was to be removed from directories that no process has had for so long that none will again. */
export async function forgetLostBlobs(db: Database): Promise<void> {
  await sql`
    DELETE FROM blobs_to_remove b
     WHERE directory IS NOT NULL AND due_at < now() - interval '30 days'
       AND NOT EXISTS (SELECT FROM file_directories d WHERE d.id = b.directory)`.execute(db);
}

/** All that lay in directories lies in this one. */
export async function moveFiles(db: Database, directory: string | null): Promise<void> {
  for (const table of ["files", "blobs_to_remove"] as const)
    await db.updateTable(table).set({ directory }).where("directory", "is not", null).execute();
}
