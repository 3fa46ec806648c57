import type { Log } from "../kernel/log.ts";
import { Channel } from "../store/connections/channel.ts";
import { CHANGE_CHANNEL, CHANGES_AT_ONCE, changesAfter, type ConfigChange, latestVersion } from "../store/records/config-changes.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { type ConfigurationProvenance, knowledgeAfter } from "./configuration-provenance.ts";
import { TenantRenewals } from "./tenant-renewals.ts";

const POLL_MS = 500;

export interface ConfigListener {
  /** One tenant's policy changed. What rejects is tried again; changes of others are told meanwhile. */
  tenantChanged(tenantId: string): Promise<void>;
  /** An API key was made, changed, rotated or revoked. */
  credentialChanged(keyHash: string): void;
  /** What a principal holds for a tool server changed; `ref` as the change names it. */
  oauthTokensChanged?(tenantId: string, ref: string): void;
  /** Whose tokens the tenant takes changed. */
  identityProvidersChanged?(tenantId: string): void;
  /** What is known of an end user changed; null: of any of the tenant's. */
  userChanged(tenantId: string, userId: string | null): void;
  /** More changed than can be listed one by one. */
  everythingChanged(): Promise<void>;
}

/**
 * Follows changes of configuration: by NOTIFY at once, by the poll when the notification or its connection was
 * lost. Either way the changes themselves are read in version order from the table, so none is missed or taken twice.
 */
export class ConfigFollower {
  private version = 0;
  /** When the change of that version was made; null while unknown. Another moment under the same number is another history. */
  private madeAt: number | null = null;
  /** Monotonic milliseconds. */
  private readAt = Number.NEGATIVE_INFINITY;
  private readonly channel: Channel;
  private readonly renewals: TenantRenewals;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private following: Promise<void> | null = null;
  /** Resolved by the first read that begins after they came. */
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
   * Resolves when every change committed before the call is in force in this process, however many come after it, or when they cannot be
   * read, or are not any more. Never rejects.
   */
  caughtUp(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    const caught = new Promise<void>((done) => this.waiting.push(done));
    this.follow();
    return caught;
  }

  /**
   * What the configuration of the tenant that is in force here is known to be worth, by how long ago the changes were read and since when
   * one of its own waits to be put in force.
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

  /** One reader at a time; a notice that comes meanwhile makes it read once more. */
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
    const tell = () => {
      const told = waiting.splice(0);
      if (told.length > 0) void this.renewals.settled().then(() => told.forEach((resolve) => resolve()));
    };
    try {
      await this.readAll(waiting, tell);
    } finally {
      tell();
    }
  }

  private async readAll(waiting: (() => void)[], tell: () => void): Promise<void> {
    while (!this.stopped) {
      waiting.push(...this.waiting.splice(0));
      const asked = performance.now();
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
        this.readAt = asked;
        return;
      }
      if (first.version !== this.version + 1) {
        // Older changes were pruned while this process could not read: nothing it holds can be trusted piecewise.
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
      if (!more) tell();
    }
  }

  /**
   * Whether the database has lost changes that were followed already, as a replica that took its primary's place too early has, or a backup
   * that was restored: new ones come under numbers that are known here, and would never be looked at.
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
