import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Call } from "../../../road/call.ts";
import type { PooledSession } from "./exchange.ts";
import { openExchange, type ServerRequest } from "./server-exchange.ts";
import { UnclearMessage } from "./unclear-message.ts";
import type { ToolParts } from "../tool-parts.ts";
import { toolServerState } from "../definitions/tool-server-state.ts";

test("a request that fails before its answer began is removed from its session", async () => {
  const exchanges: PooledSession["exchanges"] = new Map();
  const session = { key: "k", id: "s", version: "2025-11-25", nextId: 1, feedless: true, over: false, capabilities: {}, exchanges };
  const memory = toolServerState();
  memory.sessions.get = () => Promise.resolve(session);
  const call = {
    row: {},
    identity: { tenantId: "t", userId: "u", credentialId: "c" },
    abort: new AbortController(),
    whenEnded: [],
    headers: new Headers(),
    url: "http://gateway/",
  } as unknown as Call;
  const server = {
    id: "mcp-1",
    url: "http://tools.example/mcp",
    authType: "none",
    timeoutMs: 1_000,
    dialect: "handshake",
  } as ToolServerEntry;
  const ask: ServerRequest = {
    method: "tools/call",
    params: '{"name":"open"}',
    capability: { type: "tool", name: "open" },
    arguments: {},
    sender: { version: "2026-07-28", capabilities: {}, clientInfo: null, logLevel: null, session: null },
    id: 1,
  };
  // The message is ambiguous, and is refused as soon as it is read.
  const twice = '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"},"Error":{"code":2,"message":"b"}}';
  const parts = {
    memory,
    credentials: { headersFor: () => ({}), refused: () => null },
    begin: () => undefined,
    send: async () => new Response(twice, { status: 400, headers: { "content-type": "application/json" } }),
  } as unknown as ToolParts;
  await expect(openExchange(call, server, ask, parts)).rejects.toThrow(UnclearMessage);
  expect(exchanges.size).toBe(0);
});
