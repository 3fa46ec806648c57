import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { type SseToolServer, startSseToolServer } from "../../support/tool-servers/sse-tool-server.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team, textOf } from "./mcp-harness.ts";

/** Servers that only support the HTTP+SSE transport. */
let world: World;
let team: Team;
let server: SseToolServer;
let registered: any;

/** Waits until the number of connections open at the server satisfies `enough`. */
const connections = (enough: (open: number) => boolean) => until(async () => server.open.size, enough);
const at = (id: string = registered.id) => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "old transport");
  server = await startSseToolServer("sse-server-token");
  registered = await world.admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: "sse",
    base_url: server.baseUrl,
    mcp_endpoint_path: "/sse",
    auth_type: "bearer",
    api_key: "sse-server-token",
  });
  await grant(world.admin, "sse", registered.id, [team.groupId], { disabled_tools: ["secret"] });
});
afterAll(async () => {
  await server.stop();
  await world.end();
});

test("discovery finds the tools and leaves no connection", async () => {
  expect(registered).toMatchObject({ dialect: "handshake", server_version: "0.9.0" });
  const { tools } = await world.admin.get(`/v1/admin/mcp-servers/${registered.id}`);
  expect(tools.map(({ name }: { name: string }) => name)).toContain("echo");
  await connections((open) => open === 0);
});

test("a server that needs a credential for its stream is reported as unauthorized", async () => {
  const told = await world.admin.post("/v1/admin/mcp-servers/test-connection", { base_url: server.baseUrl, mcp_endpoint_path: "/sse" });
  expect(told.status ?? told.result).toBe("unauthorized");
});

describe.each(["handshake", "stateless"] as const)("for a %s client", (dialect) => {
  const connect = () => (dialect === "handshake" ? handshakeClient(at(), team.apiKey) : statelessClient(at(), team.apiKey));

  test("lists, concurrent calls, progress and questions work, and ungranted tools are refused", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("secret");
    expect(client.callTool({ name: "secret" })).rejects.toThrow();
    const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`);
    const answered = await Promise.all(texts.map((text) => client.callTool({ name: "echo", arguments: { text } })));
    expect(answered.map(textOf)).toEqual(texts.map((text) => `old: ${text}`));
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
    const done =
      dialect === "handshake"
        ? await (client as Awaited<ReturnType<typeof handshakeClient>>).callTool({ name: "steps" }, undefined, { onprogress })
        : await (client as Awaited<ReturnType<typeof statelessClient>>).callTool({ name: "steps" }, { onprogress });
    expect([textOf(done), steps]).toEqual(["done", [1, 2]]);
    expect(textOf(await client.callTool({ name: "ask" }))).toBe("hello Ada");
    expect(textOf(await client.callTool({ name: "ask_aside" }))).toBe("hello Ada");
    await client.close();
  });
});

test("a call leaves its row with the server's version", async () => {
  const { body } = await post(at(), team.apiKey, stateless(7, "tools/call", { name: "many", arguments: { rows: 2 } }));
  expect(body.result.content[0].text).toBe('[{"id":0},{"id":1}]');
  expect(await rowOf(world.admin, { mcp_capability_name: "many", server_id: registered.id })).toMatchObject({
    server_version: "0.9.0",
    target_url: `${server.baseUrl}/sse`,
    success: true,
  });
});

test("after a server restart calls use a new connection, and sessions are not found", async () => {
  const ask = () => post(at(), team.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text: "again" } }));
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const begun = await post(at(), team.apiKey, { jsonrpc: "2.0", id: 0, method: "initialize", params: initialize });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  expect((await ask()).status).toBe(200);
  server.breakOff();
  await connections((open) => open === 0);
  expect((await ask()).body.result.content[0].text).toBe("old: again");
  const lost = await post(at(), team.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/list" }, session);
  expect(lost.status).toBe(404);
});

test("a broken connection fails the calls that wait on it", async () => {
  const waiting = post(at(), team.apiKey, stateless(1, "tools/call", { name: "many", arguments: { rows: 1, wait_ms: 86_400_000 } }));
  await until(
    async () => server.called.at(-1),
    (name) => name === "many",
  );
  server.breakOff();
  expect((await waiting).body.error.data.code).toBe("upstream_interrupted");
});

test("a client that ends its session closes the connection", async () => {
  server.breakOff();
  await connections((open) => open === 0);
  const client = await handshakeClient(at(), team.apiKey);
  await connections((open) => open === 1);
  await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
  await connections((open) => open === 0);
  await client.close();
});

describe("a hostile server", () => {
  const first: Record<string, string> = {
    "/elsewhere": "event: endpoint\ndata: http://127.0.0.2:1/messages\n\n",
    "/no-endpoint": 'data: {"jsonrpc":"2.0","method":"ping","id":1}\n\n',
    "/nonsense": "event: endpoint\ndata: http://[\n\n",
  };
  let hostile: ReturnType<typeof Bun.serve>;

  beforeAll(() => {
    hostile = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (request.method === "POST") return new Response(null, { status: 405 });
        const text = first[pathname];
        if (text === undefined) return new Response("not here", { status: 404 });
        return new Response(text, { headers: { "content-type": "text/event-stream" } });
      },
    });
  });
  afterAll(() => hostile.stop(true));

  test("that sends events without end is disconnected", async () => {
    const said = (text: string) => new TextEncoder().encode(`${text}\n\n`);
    const change = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { x: "x".repeat(9_000) } };
    const hungUp: (() => void)[] = [];
    let last: ReadableStreamDefaultController<Uint8Array>;
    let talks = false;
    const talker = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        if (request.method === "GET") {
          const source = {
            start(controller: ReadableStreamDefaultController<Uint8Array>) {
              last = controller;
              controller.enqueue(said("event: endpoint\ndata: /messages"));
            },
            async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
              await Bun.sleep(1);
              controller.enqueue(said(talks ? `data: ${JSON.stringify(change)}` : ": nothing"));
            },
            cancel: () => hungUp.shift()?.(),
          };
          return new Response(new ReadableStream(source as UnderlyingSource), { headers: { "content-type": "text/event-stream" } });
        }
        if (new URL(request.url).pathname === "/sse") return new Response(null, { status: 405 });
        const { id, method } = (await request.json()) as { id?: number; method: string };
        const result = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "talker", version: "1" } };
        if (method === "initialize") last.enqueue(said(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}`));
        return new Response(null, { status: 202 });
      },
    });
    const discovered = new Promise<void>((resolve) => hungUp.push(resolve));
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "talker",
      base_url: `http://127.0.0.1:${talker.port}`,
      mcp_endpoint_path: "/sse",
    });
    await grant(world.admin, "talker", id, [team.groupId]);
    await discovered;
    const given = new Promise<void>((resolve) => hungUp.push(resolve));
    const begun = await post(at(id), team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    });
    expect(begun.status).toBe(200);
    talks = true;
    await given;
    await talker.stop(true);
  });

  test.each(["/elsewhere", "/no-endpoint", "/nonsense", "/nothing"])(
    "with an invalid endpoint event gets no requests (%s)",
    async (path) => {
      const told = await world.admin.post("/v1/admin/mcp-servers", {
        tenant_id: "default",
        name: `hostile ${path}`,
        base_url: `http://127.0.0.1:${hostile.port}`,
        mcp_endpoint_path: path,
      });
      await grant(world.admin, `hostile ${path}`, told.id, [team.groupId]);
      expect(told.dialect).toBeNull();
      const called = await post(at(told.id), team.apiKey, {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
      });
      expect(called.status).toBe(path === "/nothing" ? 405 : 502);
    },
  );
});
