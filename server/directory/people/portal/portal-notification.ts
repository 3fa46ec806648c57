import type { NotificationRow } from "../../../store/people/notifications.ts";

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
