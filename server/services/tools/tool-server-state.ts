import { BoundedMap } from "../../directory/bounded-map.ts";
import { isRefusal } from "../../kernel/errors.ts";
import type { PooledSession } from "./exchange.ts";
import type { ToolServerState } from "./tool-parts.ts";

const MAX_SERVERS = 5_000;
const MAX_DEFINITIONS = 5_000;
const MAX_SESSIONS = 20_000;

/** `unused` is called with sessions of handshake servers that were evicted for newer ones, unless they are in use. */
export function toolServerState(unused: (session: PooledSession) => void = () => undefined): ToolServerState {
  const feeds: ToolServerState["feeds"] = new Map();
  const forgotten = async (begun: Promise<PooledSession | object>) => {
    const session = (await begun) as PooledSession;
    if (!isRefusal(session) && session.exchanges.size === 0 && !feeds.has(session.key)) unused(session);
  };
  return {
    listed: new BoundedMap(MAX_SERVERS),
    definitions: new BoundedMap(MAX_DEFINITIONS),
    sessions: new BoundedMap(MAX_SESSIONS, (begun) => void forgotten(begun)),
    underWay: new Map(),
    clientAnswers: new Map(),
    feeds,
    held: new Map(),
  };
}
