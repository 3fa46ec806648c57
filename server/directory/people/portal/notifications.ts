import {
  markAllRead,
  markRead,
  notificationPage,
  unreadNotifications,
  type NotificationFilters,
} from "../../../store/people/notifications.ts";
import type { Page, Paged } from "../../../store/records/paging.ts";
import { notFound } from "../../writes/records.ts";
import type { Directory } from "../../writes/write.ts";
import { type Notification, readNotification } from "./portal-notification.ts";

type Parts = Pick<Directory, "db" | "clock">;

interface Who {
  readonly tenantId: string;
  readonly userId: string;
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

/** Throws a `not_found` refusal for another user's notification. */
export async function markNotificationRead({ db, clock }: Parts, { tenantId, userId }: Who, id: string): Promise<Notification> {
  const row = await markRead(db, tenantId, userId, id, new Date(clock.now()));
  if (row === undefined) throw notFound("notification");
  return readNotification(row);
}

export function markAllNotificationsRead({ db, clock }: Parts, { tenantId, userId }: Who): Promise<number> {
  return markAllRead(db, tenantId, userId, new Date(clock.now()));
}
