import type { Log } from "../kernel/log.ts";
import { Channel } from "../store/connections/channel.ts";
import { CHANGE_CHANNEL, CHANGES_AT_ONCE, changesAfter, type ConfigChange, latestVersion } from "../store/records/config-changes.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { type ConfigurationProvenance, knowledgeAfter } from "./configuration-provenance.ts";
import { TenantRenewals } from "./tenant-renewals.ts";

const POLL_MS = 500;

export interface ConfigListener {
  /** A tenant's policy changed. If the promise rejects it is retried; changes of other tenants continue meanwhile. */
  tenantChanged(tenantId: string): Promise<void>;
  /** An API key was created, changed, rotated or revoked. */
  credentialChanged(keyHash: string): void;
  /** A principal's tokens for a tool server changed; `ref` is the change's reference. */
  oauthTokensChanged?(tenantId: string, ref: string): void;
  /** The identity providers trusted by the tenant changed. */
  identityProvidersChanged?(tenantId: string): void;
  /** An end user's data changed; null means any of the tenant's. */
  userChanged(tenantId: string, userId: string | null): void;
  /** More has changed than can be listed individually. */
  everythingChanged(): Promise<void>;
}

/**
 * Follows configuration changes: immediately through NOTIFY, or by polling if a notification or its connection was lost.
 * Either way the changes are read from the table in version order, so that none is missed or applied twice.
 */
export class ConfigFollower {
  private version = 0;
  /**
   * When that version's change was made, epoch milliseconds; null while unknown. A different time for the same version means
   * that the history was replaced.
   */
  private madeAt: number | null = null;
  /** When the changes were last read to the end, monotonic milliseconds. */
  private readAt = Number.NEGATIVE_INFINITY;
  private readonly channel: Channel;
  private readonly renewals: TenantRenewals;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private following: Promise<void> | null = null;
  /** Callers of `caughtUp`, served by the first read that begins after they called. */
  private waiting: (() => void)[] = [];
  private again = false;
  private stopped = false;
  private readonly connection: DatabaseConnection;
  private readonly listener: ConfigListener;
  private readonly log: Log;

  constructor(connection: DatabaseConnection, listener: ConfigListener, log: Log) {
    this.connection = connection;
    this.listener = listener;
    this.log = log;
    this.renewals = new TenantRenewals((tenantId) => listener.tenantChanged(tenantId), log);
    this.channel = new Channel(connection, CHANGE_CHANNEL, { received: () => this.follow(), connected: () => this.follow() }, log);
  }

  async start(): Promise<void> {
    this.version = await latestVersion(this.connection.db);
    this.readAt = performance.now();
    await this.channel.start();
    this.poll();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.channel.stop();
    await this.following;
    await this.renewals.stop();
    for (const done of this.waiting.splice(0)) done();
  }

  /**
   * Resolves when every change committed before this call is in force in this process, regardless of later ones; also if the
   * changes cannot be read, or following has stopped. Never rejects.
   */
  caughtUp(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    const caught = new Promise<void>((done) => this.waiting.push(done));
    this.follow();
    return caught;
  }

  /**
   * How current the tenant's configuration is, judged by when the changes were last read and how long a change of its own
   * has been waiting to be applied.
   */
  knowledge(tenantId: string): ConfigurationProvenance {
    return knowledgeAfter(performance.now() - Math.min(this.readAt, this.renewals.dueSince(tenantId) ?? Number.POSITIVE_INFINITY));
  }

  private poll(): void {
    this.timer = setTimeout(() => {
      this.follow();
      void this.following?.finally(() => {
        if (!this.stopped) this.poll();
      });
    }, POLL_MS);
    this.timer.unref();
  }

  /** Runs one reader at a time; a notification during a read triggers another one. */
  private follow(): void {
    if (this.stopped) return;
    if (this.following !== null) {
      this.again = true;
      return;
    }
    this.following = this.readChanges()
      .catch((error: Error) => this.log.warn("config_changes_unread", { error }))
      .finally(() => {
        this.following = null;
        if (this.again) {
          this.again = false;
          this.follow();
        }
      });
  }

  private async readChanges(): Promise<void> {
    const waiting: (() => void)[] = [];
    const resolveWaiting = () => {
      const requesters = waiting.splice(0);
      if (requesters.length > 0) void this.renewals.settled().then(() => requesters.forEach((resolve) => resolve()));
    };
    try {
      await this.readAll(waiting, resolveWaiting);
    } finally {
      resolveWaiting();
    }
  }

  private async readAll(waiting: (() => void)[], resolveWaiting: () => void): Promise<void> {
    while (!this.stopped) {
      waiting.push(...this.waiting.splice(0));
      const startedAt = performance.now();
      const changes = await changesAfter(this.connection.db, this.version - 1);
      const more = changes.length === CHANGES_AT_ONCE;
      if (await this.isSetBack(changes)) {
        await this.startOver();
        continue;
      }
      const known = changes[0]?.version === this.version ? changes.shift() : undefined;
      if (known !== undefined) this.madeAt = known.at.getTime();
      const last = changes.at(-1);
      const first = changes[0];
      if (last === undefined || first === undefined) {
        this.readAt = startedAt;
        return;
      }
      if (first.version !== this.version + 1) {
        // Changes were pruned before this process could read them, so everything it holds may be stale.
        await this.listener.everythingChanged();
      } else {
        for (const change of changes) if (change.topic === "api_key" && change.ref !== null) this.listener.credentialChanged(change.ref);
        for (const change of changes)
          if (change.topic === "oauth_tokens" && change.ref !== null) this.listener.oauthTokensChanged?.(change.tenant_id, change.ref);
        for (const change of changes) if (change.topic === "identity_provider") this.listener.identityProvidersChanged?.(change.tenant_id);
        for (const change of changes) if (change.topic === "end_user") this.listener.userChanged(change.tenant_id, change.ref);
        for (const tenantId of new Set(
          changes.filter(({ topic }) => topic === "tenant" || topic === "policy").map(({ tenant_id }) => tenant_id),
        ))
          this.renewals.changed(tenantId);
      }
      this.version = last.version;
      this.madeAt = last.at.getTime();
      if (!more) resolveWaiting();
    }
  }

  /**
   * Whether the database lost changes that were already followed, because a lagging replica was promoted or a backup
   * restored. New changes would then reuse known versions and be overlooked.
   */
  private async isSetBack(changes: readonly ConfigChange[]): Promise<boolean> {
    const first = changes[0];
    if (first === undefined) return (await latestVersion(this.connection.db)) < this.version;
    return first.version === this.version && this.madeAt !== null && first.at.getTime() !== this.madeAt;
  }

  private async startOver(): Promise<void> {
    const version = await latestVersion(this.connection.db);
    this.log.error("config_changes_set_back", { followed: this.version, database: version });
    await this.listener.everythingChanged();
    this.version = version;
    this.madeAt = null;
  }
}
