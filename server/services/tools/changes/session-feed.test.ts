import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { PooledSession } from "../forwarding/exchange.ts";
import { joinFeed } from "./session-feed.ts";
import type { ToolParts } from "../tool-parts.ts";
import { toolServerState } from "../definitions/tool-server-state.ts";

test("a feed that could not be opened is not kept, and the next caller opens another", async () => {
  const memory = toolServerState();
  let away = true;
  const send = async () => {
    if (away) throw new Error("the database is away");
    return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
  };
  const session = {
    key: "k",
    id: "s",
    version: "2025-11-25",
    exchanges: new Map(),
    feedless: false,
    over: false,
  } as unknown as PooledSession;
  const server = { url: "http://tools.example/mcp", timeoutMs: 1_000 } as ToolServerEntry;
  const join = () => joinFeed(session, server, {}, () => true, new AbortController().signal, { send, memory } as unknown as ToolParts);
  expect(await join()).toBeNull();
  expect([memory.feeds.size, session.feedless]).toEqual([0, false]);
  away = false;
  const joined = await join();
  expect([joined !== null, memory.feeds.size]).toEqual([true, 1]);
  joined?.leave();
  expect(memory.feeds.size).toBe(0);
});
