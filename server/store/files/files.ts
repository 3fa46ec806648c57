import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { hasId } from "../records/has-id.ts";
import { type Page, type Paged, totalOf } from "../records/paging.ts";
import type { FileTable } from "../tables/files.ts";

export type FileRow = Selectable<FileTable>;

/** The owner of files: a group (files made with its keys) or a person. */
export interface FileOwner {
  readonly tenantId: string;
  readonly groupId: string;
  readonly userId: string | null;
}

export interface FileFilter {
  readonly kind?: string | undefined;
  /** The purpose given at the upload. Files without one are matched by kinds that imply it. */
  readonly purpose?: { readonly said: string; readonly kinds: readonly string[] } | undefined;
  readonly chatId?: string | undefined;
  /** Only these files, as far as they exist. */
  readonly ids?: readonly string[] | undefined;
}

/** A person reaches their own files in whatever group they were made; a key reaches the files made with keys of its group. */
export const ownedBy = (owner: FileOwner) =>
  owner.userId === null
    ? sql<boolean>`tenant_id = ${owner.tenantId} AND resource_group_id = ${owner.groupId} AND end_user_id IS NULL`
    : sql<boolean>`tenant_id = ${owner.tenantId} AND end_user_id = ${owner.userId}`;

/** Expired files are gone for readers even before the worker deletes them. */
const alive = (now: Date) => sql<boolean>`deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;

export async function findFile(db: Database, owner: FileOwner, id: string, now: Date): Promise<FileRow | undefined> {
  return db.selectFrom("files").selectAll().where(hasId(id)).where(ownedBy(owner)).where(alive(now)).executeTakeFirst();
}

/** Not scoped to an owner: the caller has proved its access by a signature for this tenant and file. */
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

/** Newest first; with `after`, only files older than it. */
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
  // Files before the cursor are read backwards from it and returned in the usual order.
  return { items: page.before === undefined ? items : items.toReversed(), total };
}

/** Also ends the upload, so that its bytes are not cleaned up. */
export async function recordFile(trx: Trx, file: Insertable<FileTable>): Promise<FileRow> {
  await trx.deleteFrom("blobs_to_remove").where("key", "=", file.id).execute();
  return trx.insertInto("files").values(file).returningAll().executeTakeFirstOrThrow();
}

/** Total bytes of a group's existing files. Locks the group's files until the transaction ends. */
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

/** Returns the IDs of the files that were deleted. */
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

/** Marks expired files as deleted, and removes records older than their tenant keeps rows. Not of tenants under a legal hold. */
export async function sweepFiles(db: Database, now: Date): Promise<void> {
  await db
    .updateTable("files")
    .set({ deleted_at: now })
    .where("deleted_at", "is", null)
    .where("expires_at", "<=", now)
    .where("tenant_id", "not in", (held) => held.selectFrom("tenants").select("id").where("legal_hold", "is not", null))
    .execute();
  await sql`
    DELETE FROM files f USING tenants t
     WHERE t.id = f.tenant_id AND t.legal_hold IS NULL AND f.deleted_at < ${now}::timestamptz - (t.data_retention->>'log_days')::int * interval '1 day'`.execute(
    db,
  );
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
  /** Every live process has tried to remove it. */
  readonly isOld: boolean;
}

/**
 * Takes some due blobs, passes them to `remove` and forgets the keys it returns. A process with a directory leaves blobs in other
 * processes' directories to them; one without reaches all blobs.
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
      // Blobs that may be another process's are retried often and must not delay its own.
      .orderBy(sql`directory IS NULL`)
      .orderBy("due_at")
      .limit(most)
      .forUpdate()
      .skipLocked()
      .execute();
    if (due.length === 0) return 0;
    const held = await postponeHeld(
      trx,
      due.map(({ key }) => key),
    );
    const removed = await remove(due.filter(({ key }) => !held.has(key)));
    if (removed.length > 0) await trx.deleteFrom("blobs_to_remove").where("key", "in", removed).execute();
    return removed.length + held.size;
  });
}

/** Puts off the removal of bytes of tenants under a legal hold. Until the transaction ends, none of the other tenants gets under one. */
async function postponeHeld(trx: Trx, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string; isHeld: boolean }>`
    SELECT f.id, t.legal_hold IS NOT NULL AS "isHeld" FROM files f JOIN tenants t ON t.id = f.tenant_id WHERE f.id = ANY(${[...keys]}) FOR SHARE OF t`.execute(
    trx,
  );
  const held = rows.filter(({ isHeld }) => isHeld).map(({ id }) => id);
  if (held.length > 0) await sql`UPDATE blobs_to_remove SET due_at = 'infinity' WHERE key = ANY(${held})`.execute(trx);
  return new Set(held);
}

/** Makes due what was put off under a legal hold that has ended. */
export async function removeReleased(db: Database): Promise<void> {
  await sql`
    UPDATE blobs_to_remove b SET due_at = now()
     WHERE b.due_at = 'infinity' AND NOT EXISTS (
       SELECT FROM files f JOIN tenants t ON t.id = f.tenant_id WHERE f.id = b.key AND t.legal_hold IS NOT NULL)`.execute(db);
}

/** Records that a process with this directory is alive. Returns whether one with another directory was in recent minutes. */
export async function noteFileDirectory(db: Database, id: string): Promise<boolean> {
  await sql`
    INSERT INTO file_directories (id, seen_at) VALUES (${id}, now()) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`.execute(db);
  await sql`DELETE FROM file_directories WHERE seen_at < now() - interval '1 day'`.execute(db);
  const { rows } = await sql`SELECT FROM file_directories WHERE id <> ${id} AND seen_at > now() - interval '3 minutes' LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Forgets blobs to be removed from directories that no process has used for so long that none will again. */
export async function forgetLostBlobs(db: Database): Promise<void> {
  await sql`
    DELETE FROM blobs_to_remove b
     WHERE directory IS NOT NULL AND due_at < now() - interval '30 days'
       AND NOT EXISTS (SELECT FROM file_directories d WHERE d.id = b.directory)`.execute(db);
}

/** Records that all files kept in directories are now in this one. */
export async function moveFiles(db: Database, directory: string | null): Promise<void> {
  for (const table of ["files", "blobs_to_remove"] as const)
    await db.updateTable(table).set({ directory }).where("directory", "is not", null).execute();
}
