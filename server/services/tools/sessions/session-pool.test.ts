import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { pooledSession } from "./session-pool.ts";
import { endAllSessions, endIdleSessions } from "./end-sessions.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { PooledSession } from "../forwarding/exchange.ts";
import { toolServerState } from "../definitions/tool-server-state.ts";

const DAY_MS = 86_400_000;

test("a session idle for a day is ended at its server, and a session in use is not", async () => {
  const seen: string[] = [];
  let begun = 0;
  const send: ToolServerSend = async ({ method, headers, body }) => {
    if (method === "DELETE") seen.push(headers["mcp-session-id"] ?? "");
    return String(body).includes('"initialize"')
      ? Response.json(
          { jsonrpc: "2.0", id: 0, result: { protocolVersion: "2025-11-25", capabilities: {} } },
          { headers: { "mcp-session-id": `session ${++begun}` } },
        )
      : new Response(null, { status: 202 });
  };
  const kept = { send, memory: toolServerState() };
  const server = { id: "mcp-1", url: "https://tools.example/mcp", timeoutMs: 1_000 } as ToolServerEntry;
  const sessionOf = (owner: string) =>
    pooledSession(server, { owner, capabilities: {}, clientInfo: null, headers: {} }, kept) as Promise<PooledSession>;
  const left = await sessionOf("left");
  const busy = await sessionOf("busy");
  busy.exchanges.set(1, () => undefined);
  await endIdleSessions(kept, left.usedAt + DAY_MS);
  expect(seen).toEqual([]);
  await endIdleSessions(kept, performance.now() + DAY_MS + 1);
  expect(seen).toEqual(["session 1"]);
  expect((await sessionOf("left")).id).toBe("session 3");
  expect((await sessionOf("busy")).id).toBe("session 2");
});

test("a server that does not answer delays stopping by at most two seconds", async () => {
  const send: ToolServerSend = () => new Promise(() => undefined);
  const kept = { send, memory: toolServerState() };
  void pooledSession(
    { id: "mcp-1", url: "https://tools.example/mcp", timeoutMs: 60_000 } as ToolServerEntry,
    { owner: "one", capabilities: {}, clientInfo: null, headers: {} },
    kept,
  );
  const from = performance.now();
  await endAllSessions(kept);
  expect(performance.now() - from).toBeLessThan(10_000);
});

test("a session keeps only part of a long server description, and oversized capabilities are refused", async () => {
  const long = "x".repeat(1_000_000);
  const session = (await begunWith({ tools: {} }, {}, long)) as PooledSession;
  expect(session).toMatchObject({ serverInfo: { name: "s", version: "1" }, capabilities: { tools: {} } });
  expect(JSON.stringify(session).length).toBeLessThan(30_000);
  expect(await begunWith({ experimental: { long } }, {})).toMatchObject({ code: "upstream_invalid_response" });
});

test("different client capabilities get different sessions, without filling the memory", async () => {
  const memory = toolServerState();
  const experimental = (last: string) => ({ experimental: { long: "x".repeat(1_000_000) + last } });
  const sessions = [experimental("1"), experimental("2"), experimental("1")].map((can) => begunWith({}, can, "", memory));
  const [first, second, again] = (await Promise.all(sessions)) as PooledSession[];
  expect([first === again, first === second]).toEqual([true, false]);
  expect([...memory.sessions.keys()].join("").length).toBeLessThan(1_000);
});

function begunWith(capabilities: JsonObject, callerCapabilities: JsonObject, said = "", memory = toolServerState()) {
  const result = { protocolVersion: "2025-11-25", serverInfo: { name: "s", version: "1", title: said }, instructions: said, capabilities };
  const send: ToolServerSend = async () => Response.json({ jsonrpc: "2.0", id: 0, result });
  const server = { id: "mcp-1", url: "https://tools.example/mcp", timeoutMs: 1_000 } as ToolServerEntry;
  return pooledSession(server, { owner: "o", capabilities: callerCapabilities, clientInfo: null, headers: {} }, { send, memory });
}
