import { BoundedMap } from "../../../directory/bounded-map.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { ClientAnswer, HeldExchange, PooledSession, SessionFeed } from "../forwarding/exchange.ts";
import type { ListedTool } from "../../../wire/mcp/tool-definitions.ts";

/** Tools as listed by a server, by name. */
interface RememberedTools {
  readonly tools: ReadonlyMap<string, ListedTool>;
  readonly characters: number;
}

/** This process's state between calls. Losing it never causes a wrong answer. */
export interface ToolServerState {
  /** Tools as last listed through the gateway, by server. */
  readonly listed: BoundedMap<string, RememberedTools>;
  /** Tool definitions as JSON, by digest; cached while guardrails or semantic policies of the tenant inspect them. */
  readonly definitions: BoundedMap<string, string>;
  /** Sessions with handshake servers on behalf of stateless callers. */
  readonly sessions: BoundedMap<string, Promise<PooledSession | object>>;
  /** Requests in progress that `notifications/cancelled` may end, by session and request ID. */
  readonly underWay: Map<string, AbortController>;
  readonly clientAnswers: Map<string, ClientAnswer>;
  /** Notification streams of handshake servers, by session. */
  readonly feeds: Map<string, SessionFeed>;
  readonly held: Map<string, HeldExchange>;
}

/** In characters, for the tools of all servers together. */
const MAX_LISTED = 64 * 1024 * 1024;
const MAX_DEFINITIONS = 5_000;
const MAX_SESSIONS = 20_000;

/** `unused` is called with handshake sessions that were evicted from the cache while not in use. */
export function toolServerState(unused: (session: PooledSession) => void = () => undefined): ToolServerState {
  const feeds: ToolServerState["feeds"] = new Map();
  const forgotten = async (begun: Promise<PooledSession | object>) => {
    const session = (await begun) as PooledSession;
    if (!isRefusal(session) && session.exchanges.size === 0 && !feeds.has(session.key)) unused(session);
  };
  return {
    listed: new BoundedMap(
      MAX_LISTED,
      () => undefined,
      ({ characters }) => characters,
    ),
    definitions: new BoundedMap(MAX_DEFINITIONS),
    sessions: new BoundedMap(MAX_SESSIONS, (begun) => void forgotten(begun)),
    underWay: new Map(),
    clientAnswers: new Map(),
    feeds,
    held: new Map(),
  };
}
