import { allRead, notification, notifications, unreadCount } from "@gatehouse/contracts/portal-answers";
import { notificationQuery } from "@gatehouse/contracts/portal";
import {
  countUnread,
  listNotifications,
  markAllNotificationsRead,
  markNotificationRead,
} from "../../directory/people/portal/notifications.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

const PATH = "/v1/portal/notifications";

export const notificationRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: PATH,
    name: "notifications",
    summary: "The user's notifications, newest first",
    answer: { status: 200, schema: notifications },
    query: notificationQuery,
    async run({ services, who, query }) {
      const { page, page_size, ...filters } = query;
      const { items, total } = await listNotifications(services.directory, who, filters, {
        limit: page_size,
        offset: (page - 1) * page_size,
      });
      return { notifications: items, total, page, page_size };
    },
  }),
  portalOperation({
    method: "GET",
    path: `${PATH}/unread-count`,
    name: "notifications_unread",
    summary: "How many are unread",
    answer: { status: 200, schema: unreadCount },
    run: async ({ services, who }) => ({ unread_count: await countUnread(services.directory, who) }),
  }),
  portalOperation({
    method: "POST",
    path: `${PATH}/mark-all-read`,
    name: "notifications_read_all",
    summary: "Marks all as read",
    answer: { status: 200, schema: allRead },
    run: async ({ services, who }) => ({ success: true, marked: await markAllNotificationsRead(services.directory, who) }),
  }),
  portalOperation({
    method: "POST",
    path: `${PATH}/:id/read`,
    name: "notification_read",
    summary: "Marks one as read",
    answer: { status: 200, schema: notification },
    run: ({ services, who, params }) => markNotificationRead(services.directory, who, params.id ?? ""),
  }),
];
