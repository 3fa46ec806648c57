import { expect, test } from "bun:test";
import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import { pooledSession } from "./session-pool.ts";
import { endAllSessions, endIdleSessions } from "./end-sessions.ts";
import type { PooledSession } from "./exchange.ts";
import { toolServerState } from "./tool-server-state.ts";

const DAY_MS = 86_400_000;

test("a session in which nothing went on for a day is ended at its server, and one that is in use is not", async () => {
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

test("a server that does not answer keeps nobody from stopping for more than two seconds", async () => {
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
