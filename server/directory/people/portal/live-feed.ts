import type { Clock } from "../../../kernel/clock.ts";
import type { Log } from "../../../kernel/log.ts";
import { approvalById } from "../../../store/approvals/approvals.ts";
import { acknowledgementsOf } from "../../../store/policies/alert-acknowledgements.ts";
import { alertById } from "../../../store/policies/alerts.ts";
import { Channel } from "../../../store/connections/channel.ts";
import type { DatabaseConnection } from "../../../store/database.ts";
import { notificationById } from "../../../store/people/notifications.ts";
import type { EndUserCache } from "../../end-user-cache.ts";
import type { Snapshots } from "../../snapshots.ts";
import { approvalViews } from "../../tools/approval-views.ts";
import type { Viewer } from "../../tools/approvals.ts";
import { alertGroupsOf, portalAlert } from "./alerts.ts";
import type { FeedFollower, FeedEvent } from "./feed-follower.ts";
import { readNotification } from "./portal-notification.ts";

const CHANNEL = "gatehouse_portal";
/** A person who opens more portals than this loses the oldest. */
const MAX_FOR_A_USER = 10;

interface FeedMessage {
  readonly kind: string;
  readonly tenant_id: string;
  readonly id: string;
  /** For a notification: its owner. */
  readonly user_id?: string;
}

/**
 * Distributes changes that the database announces: each record is read once per process and sent to those who may see it.
 * One connection listens for all open portals.
 */
export class LiveFeed {
  /** Sets, because a listener may leave while being notified without affecting the next one. */
  private readonly followers = new Map<string, Map<string, Set<FeedFollower>>>();
  private readonly channel: Channel;
  private stopped = false;
  private readonly parts: { connection: DatabaseConnection; users: EndUserCache; snapshots: Snapshots; clock: Clock; log: Log };

  constructor(parts: LiveFeed["parts"]) {
    this.parts = parts;
    this.channel = new Channel(
      parts.connection,
      CHANNEL,
      {
        received: (payload) =>
          void this.pass(payload).catch((error: Error) => {
            parts.log.warn("portal_event_lost", { error });
            // The recipient of the lost message is unknown.
            this.notifyAll({ name: "resync", data: {} });
          }),
        connected: (again) => {
          if (again) this.notifyAll({ name: "resync", data: {} });
        },
      },
      parts.log,
    );
  }

  start(): Promise<void> {
    return this.channel.start();
  }

  /** Ends every open stream, so that shutdown does not wait for people to close their portals. */
  endAll(): void {
    this.stopped = true;
    for (const users of this.followers.values()) for (const portals of users.values()) for (const follower of portals) follower.end();
  }

  async stop(): Promise<void> {
    this.endAll();
    await this.channel.stop();
  }

  /** Returns a function that ends the subscription. */
  follow(follower: FeedFollower): () => void {
    const users = this.followers.get(follower.tenantId) ?? new Map<string, Set<FeedFollower>>();
    this.followers.set(follower.tenantId, users);
    const portals = users.get(follower.userId) ?? new Set<FeedFollower>();
    users.set(follower.userId, portals);
    portals.add(follower);
    const [oldest] = portals;
    if (portals.size > MAX_FOR_A_USER) oldest?.end();
    if (this.stopped) follower.end();
    return () => {
      portals.delete(follower);
      if (portals.size === 0 && users.get(follower.userId) === portals) users.delete(follower.userId);
      if (users.size === 0) this.followers.delete(follower.tenantId);
    };
  }

  /** Ends the portals of a person who is no longer admitted; checks everyone in the tenant if `userId` is null. */
  async review(tenantId: string, userId: string | null): Promise<void> {
    for (const [id, portals] of this.followers.get(tenantId) ?? []) {
      if (userId !== null && id !== userId) continue;
      const user = await Promise.resolve(this.parts.users.find(tenantId, id)).catch(() => undefined);
      // Undefined means that the database is unreachable; those already connected stay until it can be asked.
      if (user === null || user?.is_active === false) for (const follower of portals) follower.end();
    }
  }

  async reviewAll(): Promise<void> {
    for (const tenantId of this.followers.keys()) await this.review(tenantId, null);
  }

  private notifyAll(event: FeedEvent): void {
    for (const users of this.followers.values()) for (const portals of users.values()) for (const follower of portals) follower.tell(event);
  }

  private async pass(payload: string): Promise<void> {
    const message = JSON.parse(payload) as FeedMessage;
    const users = this.followers.get(message.tenant_id);
    if (users === undefined) return;
    if (message.kind === "notification") await this.passNotification(message, users);
    else if (message.kind === "alert") await this.passAlert(message, users);
    else if (message.kind === "approval") await this.passApproval(message, users);
  }

  private async passNotification(
    { tenant_id: tenantId, id, user_id: userId }: FeedMessage,
    users: ReadonlyMap<string, ReadonlySet<FeedFollower>>,
  ): Promise<void> {
    if (userId !== undefined && !users.has(userId)) return;
    const row = await notificationById(this.parts.connection.db, tenantId, id);
    if (row === undefined) return;
    const event: FeedEvent = { name: "notification", data: readNotification(row) };
    for (const follower of users.get(row.end_user_id) ?? []) follower.tell(event);
  }

  private async passAlert({ tenant_id: tenantId, id }: FeedMessage, users: ReadonlyMap<string, ReadonlySet<FeedFollower>>): Promise<void> {
    const row = await alertById(this.parts.connection.db, tenantId, id);
    const tenant = await this.parts.snapshots.tenant(tenantId);
    if (row === undefined || tenant === null || row.group_id === null) return;
    const acknowledged = await acknowledgementsOf(this.parts.connection.db, id, [...users.keys()]);
    const fresh: FeedEvent = { name: "alert", data: portalAlert(row, null) };
    for (const [userId, portals] of users) {
      const user = await this.parts.users.find(tenantId, userId);
      if (user === null || !alertGroupsOf(tenant, user).has(row.group_id)) continue;
      const at = acknowledged.get(userId);
      const event = at === undefined ? fresh : { ...fresh, data: portalAlert(row, at) };
      for (const follower of portals) follower.tell(event);
    }
  }

  private async passApproval(
    { tenant_id: tenantId, id }: FeedMessage,
    users: ReadonlyMap<string, ReadonlySet<FeedFollower>>,
  ): Promise<void> {
    const row = await approvalById(this.parts.connection.db, tenantId, id);
    if (row === undefined) return;
    const viewers: Viewer[] = [];
    for (const userId of users.keys()) {
      const user = await this.parts.users.find(tenantId, userId);
      if (user !== null) viewers.push({ requesterId: userId, groupIds: user.group_ids });
    }
    const views = await approvalViews(this.parts.connection.db, row, viewers, this.parts.clock.now());
    for (const [userId, view] of views) {
      const event: FeedEvent = { name: "approval", data: view };
      for (const follower of users.get(userId) ?? []) follower.tell(event);
    }
  }
}
