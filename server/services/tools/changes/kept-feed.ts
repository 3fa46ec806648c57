import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Listener, PooledSession } from "../forwarding/exchange.ts";
import { openFeed } from "./session-feed.ts";
import type { ToolParts } from "../tool-parts.ts";

const IDLE_MS = 60_000;
const HEAD_START_MS = 50;

/**
 * Keeps a session's notification stream open while requests are in progress and a while longer, for requests that the server sends there.
 */
export async function keepFeed(
  session: PooledSession,
  server: ToolServerEntry,
  credentials: Readonly<Record<string, string>>,
  parts: ToolParts,
): Promise<void> {
  const { feeds } = parts.memory;
  if (session.feedless) return;
  const known = feeds.get(session.key);
  const feed = known ?? openFeed(session, server, credentials, parts);
  feeds.set(session.key, feed);
  let timer: ReturnType<typeof setTimeout>;
  const keeper: Listener = { hear: () => undefined, ended: () => clearTimeout(timer) };
  const poll = () => {
    if (session.exchanges.size > 0) timer = setTimeout(poll, IDLE_MS);
    else {
      feed.kept = false;
      feed.listeners.delete(keeper);
      if (feed.listeners.size === 0) feed.abort.abort("nobody_listens");
    }
  };
  if (feed.kept) return;
  feed.kept = true;
  timer = setTimeout(poll, IDLE_MS);
  timer.unref?.();
  feed.listeners.add(keeper);
  // Messages sent before the stream is open are lost, so wait briefly for it.
  await Promise.race([feed.open, new Promise((resolve) => setTimeout(resolve, HEAD_START_MS))]);
}
