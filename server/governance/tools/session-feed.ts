import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { isRefusal } from "../surface.ts";
import { type PooledSession, sessionHeaders } from "./session-pool.ts";
import type { ToolParts } from "./tool-parts.ts";
import { isEventStream, upstreamMessages } from "./upstream-messages.ts";

/** Somebody who hears what a session's server says unasked. */
interface Listener {
  hear(message: JsonObject): void;
  ended(): void;
}

/** The one stream on which a handshake server tells a session of changes, for all who listen to it. */
export interface SessionFeed {
  readonly listeners: Set<Listener>;
  /** How many listen for each resource. */
  readonly uris: Map<string, number>;
  readonly abort: AbortController;
  /** Whether the server has such a stream. */
  readonly open: Promise<boolean>;
}

const HEAD_MS = 86_400_000;
/** How long a server's refusal is waited for. */
const MOST_WAIT_MS = 250;
/** A listener that does not listen is let go before what waits for it grows. */
const MOST_WAITING = 1_000;

/** Joins the feed of a session, which is opened when there is none; null when its server has no such stream. */
export async function joinFeed(session: PooledSession, server: ToolServerEntry, credentials: Readonly<Record<string, string>>, signal: AbortSignal, parts: ToolParts): Promise<{ readonly feed: SessionFeed; readonly heard: AsyncGenerator<JsonObject, void>; leave(): void } | null> {
  const { feeds } = parts.memory;
  let feed = feeds.get(session.key);
  if (feed === undefined) {
    feed = openFeed(session, server, credentials, parts);
    feeds.set(session.key, feed);
  }
  const waiting: JsonObject[] = [];
  let over = false;
  let wake: () => void = () => undefined;
  const listener: Listener = {
    hear(message) {
      if (waiting.push(message) > MOST_WAITING) over = true;
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
  // Some servers send not even the head before there is something to tell.
  if (!(await Promise.race([feed.open, new Promise<true>((resolve) => setTimeout(() => resolve(true), MOST_WAIT_MS))]))) {
    leave();
    return null;
  }
  async function* heard(): AsyncGenerator<JsonObject, void> {
    for (;;) {
      const message = waiting.shift();
      if (message !== undefined) yield message;
      else if (over) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return { feed, heard: heard(), leave };
}

function openFeed(session: PooledSession, server: ToolServerEntry, credentials: Readonly<Record<string, string>>, { send, memory }: ToolParts): SessionFeed {
  const abort = new AbortController();
  const listeners = new Set<Listener>();
  const end = () => {
    if (memory.feeds.get(session.key) === feed) memory.feeds.delete(session.key);
    for (const listener of listeners) listener.ended();
  };
  const read = async (response: Response) => {
    try {
      for await (const { value } of upstreamMessages(response)) if (typeof value.method === "string" && value.id === undefined && (value.params === undefined || isObject(value.params))) for (const listener of listeners) listener.hear(value);
    } catch {
      // It broke off: who listens sees the end and may listen again.
    }
    end();
  };
  const open = async () => {
    const response = await send({ url: server.url, method: "GET", headers: { accept: "text/event-stream", ...credentials, ...sessionHeaders(session) }, abort, timeoutMs: HEAD_MS });
    if (!isRefusal(response) && response.ok && isEventStream(response)) {
      void read(response);
      return true;
    }
    if (!isRefusal(response)) await response.body?.cancel().catch(() => undefined);
    end();
    return false;
  };
  const feed: SessionFeed = { listeners, uris: new Map(), abort, open: open() };
  return feed;
}
