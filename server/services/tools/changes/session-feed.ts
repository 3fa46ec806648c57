import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { progressTokenOf } from "../../../wire/mcp/progress.ts";
import { exactMessage } from "../../../wire/mcp/rpc.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { isForgotten } from "../sessions/forgotten-session.ts";
import { dropSession, sessionHeaders } from "../sessions/session-pool.ts";
import type { Listener, PooledSession, SessionFeed } from "../forwarding/exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import { upstreamMessages } from "../forwarding/upstream-messages.ts";

const HEAD_MS = 86_400_000;
/** How long to wait for a server to refuse the stream, in milliseconds. */
const MAX_WAIT_MS = 250;

/**
 * A listener that does not consume its messages is dropped beyond this number of messages or characters. A notification that is already
 * queued is not queued again, because one suffices to make the listener check.
 */
const MAX_WAITING = 1_000;
const MAX_WAITING_CHARACTERS = 1024 * 1024;

/**
 * Joins a session's notification stream, opening it if necessary. Only messages that `wanted` accepts are delivered. Null if the server
 * offers no such stream.
 */
export async function joinFeed(
  session: PooledSession,
  server: ToolServerEntry,
  credentials: Readonly<Record<string, string>>,
  wanted: (message: JsonObject) => boolean,
  signal: AbortSignal,
  parts: ToolParts,
): Promise<{ readonly feed: SessionFeed; readonly heard: AsyncGenerator<JsonObject, void>; leave(): void } | null> {
  const { feeds } = parts.memory;
  let feed = feeds.get(session.key);
  if (feed === undefined) {
    feed = openFeed(session, server, credentials, parts);
    feeds.set(session.key, feed);
  }
  const waiting = new Map<string, JsonObject>();
  let characters = 0;
  let over = false;
  let wake: () => void = () => undefined;
  const listener: Listener = {
    hear({ text, value }) {
      if (over || waiting.has(text) || !wanted(value)) return;
      waiting.set(text, value);
      characters += text.length;
      over = waiting.size > MAX_WAITING || characters > MAX_WAITING_CHARACTERS;
      wake();
    },
    ended() {
      over = true;
      wake();
    },
  };
  feed.listeners.add(listener);
  const joined = feed;
  const leave = () => {
    signal.removeEventListener("abort", leave);
    listener.ended();
    joined.listeners.delete(listener);
    if (joined.listeners.size === 0) joined.abort.abort("nobody_listens");
  };
  signal.addEventListener("abort", leave, { once: true });
  // The caller may have disconnected already.
  if (signal.aborted) leave();
  // Some servers send no response headers before the first event.
  if (!(await Promise.race([feed.open, new Promise<true>((resolve) => setTimeout(() => resolve(true), MAX_WAIT_MS))]))) {
    leave();
    return null;
  }
  async function* heard(): AsyncGenerator<JsonObject, void> {
    for (;;) {
      const [next] = waiting;
      if (next !== undefined) {
        const [text, message] = next;
        waiting.delete(text);
        characters -= text.length;
        yield message;
      } else if (over) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return { feed, heard: heard(), leave };
}

/** Whether the status means that the server offers no stream. Other statuses are temporary failures. */
function declaresNone(status: number): boolean {
  return status === 501 || (status < 500 && status !== 408 && status !== 425 && status !== 429);
}

export function openFeed(
  session: PooledSession,
  server: ToolServerEntry,
  credentials: Readonly<Record<string, string>>,
  parts: ToolParts,
): SessionFeed {
  const { send, memory } = parts;
  const abort = new AbortController();
  const listeners = new Set<Listener>();
  const end = () => {
    if (memory.feeds.get(session.key) === feed) memory.feeds.delete(session.key);
    for (const listener of listeners) listener.ended();
  };
  // New listeners open another stream rather than join one that is being closed.
  abort.signal.addEventListener("abort", end, { once: true });
  const read = async (response: Response) => {
    try {
      for await (const message of upstreamMessages(response)) {
        const { value } = message;
        if (typeof value.method !== "string") continue;
        const token = progressTokenOf(value);
        if (typeof token === "number") session.exchanges.get(token)?.(message);
        else if (value.id === undefined) {
          // All listeners get the same object, by which overlapping subscriptions detect duplicates.
          const feedMessage = { text: message.text, value: exactMessage(message.text, value) };
          for (const listener of listeners) listener.hear(feedMessage);
        } else for (const receive of [...session.exchanges.values()].slice(0, 1)) receive(message);
      }
    } catch {
      // The stream broke: listeners are told that it ended and may join again.
    }
    end();
  };
  const open = async () => {
    const response = await send({
      url: server.url,
      method: "GET",
      headers: { accept: "text/event-stream", ...credentials, ...sessionHeaders(session) },
      abort,
      timeoutMs: HEAD_MS,
    });
    if (!isRefusal(response) && response.ok && isEventStream(response)) {
      void read(response);
      return true;
    }
    // A server that cannot be reached may still offer the stream.
    if (!isRefusal(response)) {
      await cancelQuietly(response.body);
      if (await isForgotten(session, server, credentials, parts)) dropSession(session, parts);
      else if (declaresNone(response.status)) session.feedless = true;
    }
    end();
    return false;
  };
  const opened = open().catch(() => {
    // Opening may need the database, which may be unavailable; the next listener tries again.
    end();
    return false;
  });
  const feed: SessionFeed = { listeners, abort, kept: false, open: opened };
  return feed;
}
