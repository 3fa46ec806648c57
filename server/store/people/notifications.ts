import { sql, type Selectable } from "kysely";
import type { Database } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { NotificationTable } from "../tables/people.ts";

export type NotificationRow = Selectable<NotificationTable>;

export interface NotificationFilters {
  readonly notification_type?: string | undefined;
  readonly unread_only?: boolean | undefined;
}

const notExpired = sql<boolean>`(expires_at IS NULL OR expires_at > now())`;

/** Newest first, without expired ones. */
export async function notificationPage(
  db: Database,
  tenantId: string,
  userId: string,
  filters: NotificationFilters,
  page: Page,
): Promise<Paged<NotificationRow>> {
  let query = db.selectFrom("notifications").where("tenant_id", "=", tenantId).where("end_user_id", "=", userId).where(notExpired);
  if (filters.notification_type !== undefined) query = query.where("notification_type", "=", filters.notification_type);
  if (filters.unread_only === true) query = query.where("is_read", "=", false);
  return pageOfRows(query, query.selectAll().orderBy("id", "desc"), page);
}

export async function unreadNotifications(db: Database, tenantId: string, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom("notifications")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", userId)
    .where("is_read", "=", false)
    .where(notExpired)
    .executeTakeFirstOrThrow();
  return count;
}

/** Undefined if the user has no such notification. Keeps the time if it was already read. */
export async function markRead(
  db: Database,
  tenantId: string,
  userId: string,
  id: string,
  now: Date,
): Promise<NotificationRow | undefined> {
  return db
    .updateTable("notifications")
    .set({ is_read: true, read_at: sql<Date>`coalesce(read_at, ${now})` })
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", userId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/** Returns how many were unread. */
export async function markAllRead(db: Database, tenantId: string, userId: string, now: Date): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("notifications")
    .set({ is_read: true, read_at: now })
    .where("tenant_id", "=", tenantId)
    .where("end_user_id", "=", userId)
    .where("is_read", "=", false)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Deletes notifications from before that time. Returns how many. */
export async function pruneNotifications(db: Database, tenantId: string, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("notifications")
    .where("tenant_id", "=", tenantId)
    .where("created_at", "<", before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

export async function notificationById(db: Database, tenantId: string, id: string): Promise<NotificationRow | undefined> {
  return db.selectFrom("notifications").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

const DELETE_BATCH = 5_000;

/** Deletes expired notifications. */
export async function forgetExpiredNotifications(db: Database, now: Date): Promise<void> {
  for (let forgotten = DELETE_BATCH; forgotten === DELETE_BATCH;) {
    const { numAffectedRows } =
      await sql`DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${sql.lit(DELETE_BATCH)})`.execute(
        db,
      );
    forgotten = Number(numAffectedRows ?? 0);
  }
}
