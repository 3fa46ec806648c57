import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { MAX_SUBSCRIPTIONS } from "../../kernel/operations/subscription-bounds.ts";
import { Channel } from "../../store/connections/channel.ts";
import type { DatabaseConnection } from "../../store/database.ts";
import { addSubscription, markSessionEnded, removeSubscription, setLogLevel } from "../../store/tools/tool-session-changes.ts";
import { type SessionRef, tellCancelled, TOOL_CHANNEL, type ToolSessionRow, touchSession } from "../../store/tools/tool-sessions.ts";
import { BoundedMap } from "../bounded-map.ts";

/** A caller's session with a server. The token is a credential and is never stored. */
export interface SessionCredential {
  readonly tenantId: string;
  readonly token: string;
}

/** A stream with the updates that its session subscribed to. */
interface Followed {
  readonly ref: SessionRef;
  version: number;
  uris: readonly string[];
  ended: boolean;
  readonly changed: Set<() => void>;
}

/** Settings that apply to a whole session. */
export interface SessionStatus {
  /** Null sends no log messages. */
  readonly level: string | null;
  /** Whether the session has ended. */
  readonly ended: boolean;
}

export interface SubscriptionFollower {
  /** The current subscriptions of the session. */
  uris(): readonly string[];
  /** Whether the caller has ended the session. */
  ended(): boolean;
  stop(): void;
}

const MAX_SESSIONS = 20_000;
const RENEWAL_INTERVAL_MS = 86_400_000;

/**
 * State that handshake-dialect callers set for a whole session: subscriptions, the log level, and whether it has ended.
 * Any process may receive it while another holds the stream or call it applies to, so it is kept in the database, whose
 * notifications announce changes at once. After a lost connection it is read again.
 */
export class SessionState {
  private readonly known = new BoundedMap<string, SessionStatus & { readonly version: number }>(MAX_SESSIONS);
  private readonly followed = new Map<string, Followed>();
  private readonly channel: Channel;
  private readonly parts: {
    readonly connection: DatabaseConnection;
    readonly secrets: SecretBox;
    readonly log: Log;
    readonly cancelled: (mark: string) => void;
    readonly ended: (name: string) => void;
  };

  /** `cancelled` is called with the mark of a request cancelled at any process, and `ended` with the name of a session that has ended. */
  static async open(parts: SessionState["parts"]): Promise<SessionState> {
    const sessionState = new SessionState(parts);
    await sessionState.channel.start();
    return sessionState;
  }

  private constructor(parts: SessionState["parts"]) {
    this.parts = parts;
    this.channel = new Channel(
      parts.connection,
      TOOL_CHANNEL,
      {
        received: (payload) => this.received(payload),
        connected: (again) => {
          if (again) this.reload();
        },
      },
      parts.log,
    );
  }

  stop(): Promise<void> {
    return this.channel.stop();
  }

  /** Records a new session, so that its state need not be read. */
  sessionStarted(session: SessionCredential): void {
    this.known.set(this.refOf(session).session, { version: 0, ...NOTHING_SAID });
  }

  /** Returns the defaults if the state cannot be read. */
  async statusOf(session: SessionCredential): Promise<SessionStatus> {
    const ref = this.refOf(session);
    const known = this.known.get(ref.session);
    if (known !== undefined) return known;
    try {
      this.take(ref, (await touchSession(this.parts.connection.db, ref)) ?? NOTHING);
      return this.known.get(ref.session) ?? NOTHING_SAID;
    } catch (error) {
      this.parts.log.warn("tool_session_unread", { error: error as Error });
      return NOTHING_SAID;
    }
  }

  /** Rejects if the database is unreachable, like the methods below. */
  async setLogLevel(session: SessionCredential, level: string): Promise<void> {
    const ref = this.refOf(session);
    this.take(ref, await setLogLevel(this.parts.connection.db, ref, level));
  }

  /** Returns false if the session has too many subscriptions. */
  async subscribe(session: SessionCredential, uri: string): Promise<boolean> {
    const ref = this.refOf(session);
    const row = await addSubscription(this.parts.connection.db, ref, uri, MAX_SUBSCRIPTIONS);
    this.take(ref, row);
    return row !== undefined;
  }

  async unsubscribe(session: SessionCredential, uri: string): Promise<void> {
    const ref = this.refOf(session);
    this.take(ref, await removeSubscription(this.parts.connection.db, ref, uri));
  }

  async end(session: SessionCredential): Promise<void> {
    const ref = this.refOf(session);
    this.take(ref, await markSessionEnded(this.parts.connection.db, ref));
  }

  /** Calls `changed` whenever the subscriptions change or the session ends. */
  async follow(session: SessionCredential, changed: () => void): Promise<SubscriptionFollower> {
    const ref = this.refOf(session);
    const one: Followed = this.followed.get(ref.session) ?? { ref, version: -1, uris: [], ended: false, changed: new Set() };
    this.followed.set(ref.session, one);
    const renewal = setInterval(() => void this.read(ref), RENEWAL_INTERVAL_MS);
    renewal.unref?.();
    one.changed.add(changed);
    if (one.version < 0) await this.read(ref);
    return {
      uris: () => one.uris,
      ended: () => one.ended,
      stop: () => {
        clearInterval(renewal);
        one.changed.delete(changed);
        if (one.changed.size === 0 && this.followed.get(ref.session) === one) this.followed.delete(ref.session);
      },
    };
  }

  /** Tells every process that a request was cancelled. Rejects if the database is unreachable. */
  async tellCancelled(mark: string): Promise<void> {
    await tellCancelled(this.parts.connection.db, mark);
  }

  /** A name for the session that does not reveal its token. */
  nameOf(session: SessionCredential): string {
    return this.refOf(session).session;
  }

  private refOf({ tenantId, token }: SessionCredential): SessionRef {
    return { tenantId, session: this.parts.secrets.hmac("mcp-session-notes", `${tenantId}\n${token}`) };
  }

  /** Stores a row that was read, unless a newer version is known. */
  private take({ session }: SessionRef, row: ToolSessionRow | undefined): void {
    if (row === undefined) return;
    const { version, ended } = row;
    if (ended) this.parts.ended(session);
    if (version >= (this.known.get(session)?.version ?? -1)) this.known.set(session, { version, level: row.log_level, ended });
    const one = this.followed.get(session);
    if (one === undefined || version <= one.version) return;
    const same = ended === one.ended && row.uris.length === one.uris.length && row.uris.every((uri) => one.uris.includes(uri));
    Object.assign(one, { version, ended, uris: row.uris });
    if (!same) for (const changed of one.changed) changed();
  }

  private async read(ref: SessionRef): Promise<void> {
    try {
      this.take(ref, (await touchSession(this.parts.connection.db, ref)) ?? NOTHING);
    } catch (error) {
      // Read again when the database connection is back.
      this.parts.log.warn("tool_session_unread", { error: error as Error });
    }
  }

  private received(payload: string): void {
    const notice = JSON.parse(payload) as {
      readonly cancelled?: string;
      readonly session?: string;
      readonly version?: number;
      readonly level?: string | null;
      readonly ended?: boolean;
    };
    if (notice.cancelled !== undefined) return this.parts.cancelled(notice.cancelled);
    const { session, version, level, ended } = notice;
    if (session === undefined || version === undefined) return;
    if (ended === true) this.parts.ended(session);
    if (version > (this.known.get(session)?.version ?? -1))
      this.known.set(session, { version, level: level ?? null, ended: ended ?? false });
    const one = this.followed.get(session);
    if (one !== undefined && version > one.version) void this.read(one.ref);
  }

  private reload(): void {
    this.known.clear();
    for (const { ref } of this.followed.values()) void this.read(ref);
  }
}

const NOTHING: ToolSessionRow = { uris: [], log_level: null, version: 0, ended: false };
const NOTHING_SAID: SessionStatus = { level: null, ended: false };
