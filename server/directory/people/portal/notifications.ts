import {
  markAllRead,
  markRead,
  notificationPage,
  unreadNotifications,
  type NotificationFilters,
  type NotificationRow,
} from "../../../store/notifications.ts";
import type { Page, Paged } from "../../../store/paging.ts";
import { notFound } from "../../writes/records.ts";
import type { Directory } from "../../writes/write.ts";

type Parts = Pick<Directory, "db" | "clock">;

interface Who {
  readonly tenantId: string;
  readonly userId: string;
}

/** A notification as its user reads it (interface 2.5). */
export interface Notification {
  readonly id: string;
  readonly notification_type: string;
  readonly title: string;
  readonly body: string;
  readonly metadata: Record<string, unknown>;
  readonly is_read: boolean;
  readonly read_at: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export function readNotification(row: NotificationRow): Notification {
  const { id, notification_type, title, body, metadata, is_read } = row;
  return {
    id,
    notification_type,
    title,
    body,
    metadata,
    is_read,
    read_at: row.read_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}

export async function listNotifications(
  { db }: Parts,
  { tenantId, userId }: Who,
  filters: NotificationFilters,
  page: Page,
): Promise<Paged<Notification>> {
  const { items, total } = await notificationPage(db, tenantId, userId, filters, page);
  return { items: items.map(readNotification), total };
}

export function countUnread({ db }: Parts, { tenantId, userId }: Who): Promise<number> {
  return unreadNotifications(db, tenantId, userId);
}

/** Throws a `not_found` refusal for a notification that is another's. */
export async function markNotificationRead({ db, clock }: Parts, { tenantId, userId }: Who, id: string): Promise<Notification> {
  const row = await markRead(db, tenantId, userId, id, new Date(clock.now()));
  if (row === undefined) throw notFound("notification");
  return readNotification(row);
}

export function markAllNotificationsRead({ db, clock }: Parts, { tenantId, userId }: Who): Promise<number> {
  return markAllRead(db, tenantId, userId, new Date(clock.now()));
}
