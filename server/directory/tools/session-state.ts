import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { MAX_SUBSCRIPTIONS } from "../../kernel/operations/subscription-bounds.ts";
import { Channel } from "../../store/connections/channel.ts";
import type { DatabaseConnection } from "../../store/database.ts";
import { addSubscription, markSessionEnded, removeSubscription, setLogLevel } from "../../store/tools/tool-session-changes.ts";
import { type SessionRef, tellCancelled, TOOL_CHANNEL, type ToolSessionRow, touchSession } from "../../store/tools/tool-sessions.ts";
import { BoundedMap } from "../bounded-map.ts";

/** A caller's session with a server: its token is a credential, and is stored nowhere. */
export interface SessionCredential {
  readonly tenantId: string;
  readonly token: string;
}

/** A stream that carries the updates its session subscribed to. */
interface Followed {
  readonly ref: SessionRef;
  version: number;
  uris: readonly string[];
  ended: boolean;
  readonly changed: Set<() => void>;
}

/** What a session's caller set for the whole session. */
export interface SessionStatus {
  /** Null: nothing of logs. */
  readonly level: string | null;
  /** That it is over. */
  readonly ended: boolean;
}

export interface SubscriptionFollower {
  /** What the session is subscribed to now. */
  uris(): readonly string[];
  /** Whether its caller has ended it. */
  ended(): boolean;
  stop(): void;
}

const MAX_SESSIONS = 20_000;
const RENEWED_MS = 86_400_000;

/**
 * State that callers of the handshake dialect set for a whole session: subscribed resources, the log level, and that it
 * has ended. Any process may receive it, and any other may hold the stream or the call it applies to: it stands in the
 * database, whose notices tell of a change at once. What a lost connection did not tell is read when it is back.
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

  /**
   * `cancelled` is called with the mark of a request that was cancelled at any process; `ended` with the name of a session that is over.
   */
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

  /** Of a session that was just made: nobody can have said anything of it yet. */
  sessionStarted(session: SessionCredential): void {
    this.known.set(this.refOf(session).session, { version: 0, ...NOTHING_SAID });
  }

  /** What cannot be read just now was not said. */
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

  /** Rejects, as what follows, when the database cannot be reached. */
  async setLogLevel(session: SessionCredential, level: string): Promise<void> {
    const ref = this.refOf(session);
    this.take(ref, await setLogLevel(this.parts.connection.db, ref, level));
  }

  /** False when the session has too many already. */
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

  /** Calls `changed` whenever the session is subscribed to something else than before, or over. */
  async follow(session: SessionCredential, changed: () => void): Promise<SubscriptionFollower> {
    const ref = this.refOf(session);
    const one: Followed = this.followed.get(ref.session) ?? { ref, version: -1, uris: [], ended: false, changed: new Set() };
    this.followed.set(ref.session, one);
    const renewal = setInterval(() => void this.read(ref), RENEWED_MS);
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

  /** Tells every process that a request was cancelled. Rejects when the database cannot be reached. */
  async tellCancelled(mark: string): Promise<void> {
    await tellCancelled(this.parts.connection.db, mark);
  }

  /** What the session is called where its own text may not stand. */
  nameOf(session: SessionCredential): string {
    return this.refOf(session).session;
  }

  private refOf({ tenantId, token }: SessionCredential): SessionRef {
    return { tenantId, session: this.parts.secrets.hmac("mcp-session-notes", `${tenantId}\n${token}`) };
  }

  /** Keeps what was read unless something newer is known. */
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
      // The notices are read again once the database is back.
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
