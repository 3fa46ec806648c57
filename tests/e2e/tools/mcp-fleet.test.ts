import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { handshakeFixture } from "../../conformance/handshake-fixture.ts";
import { statelessFixture } from "../../conformance/stateless-fixture.ts";
import { type AdminClient, rowsOf, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { startChangingServer } from "../../support/tool-servers/changing-server.ts";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

let database: TestDatabase;
let gateways: GatewayProcess[];
let admin: AdminClient;
let approver: AdminClient;
let team: Team;
let ids: { handshake: string; stateless: string };
const serving: { stop(force?: boolean): Promise<void> }[] = [];

beforeAll(async () => {
  database = await testDatabase();
  const env = { GW_SECRET_KEY: Buffer.alloc(32, 3).toString("base64"), GW_JWT_SECRET: "the same secret for both of the processes" };
  gateways = [
    await startGateway({ databaseUrl: database.url, env }),
    await startGateway({ databaseUrl: database.url, env: { ...env, GW_ROLES: "runtime" } }),
  ];
  admin = await signIn((gateways[0] as GatewayProcess).adminUrl);
  approver = await signInAsApprover((gateways[0] as GatewayProcess).adminUrl, admin);
  team = await newTeam(admin, "fleet");
  const register = async (name: string, fixture: { fetch(request: Request): Promise<Response> }) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: (request) => fixture.fetch(request) });
    serving.push(server);
    const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: `http://127.0.0.1:${server.port}` });
    await grant(admin, name, id, [team.groupId]);
    return id as string;
  };
  ids = { handshake: await register("handshake", handshakeFixture()), stateless: await register("stateless", statelessFixture()) };
  for (const id of Object.values(ids)) await usable(`mcp/${id}`);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await Promise.all(serving.map((server) => server.stop(true)));
  await database.close();
  for (const { dataDir } of gateways) await removeDirectory(dataDir);
});

/** A `fetch` that sends each request to the next process in turn. */
function inTurn() {
  let turn = 0;
  return (input: string | URL | Request, init?: RequestInit) => {
    const gateway = gateways[turn++ % gateways.length] as GatewayProcess;
    const url = new URL(input instanceof Request ? input.url : input);
    return fetch(`${gateway.runtimeUrl}${url.pathname}`, init);
  };
}

const at = (id: string) => new URL(`http://any.example/v1/proxy/mcp/${id}`);
const NAME = { action: "accept" as const, content: { name: "Ada", color: "blue", ok: true, response: "yes" } };
const SAID = { role: "assistant" as const, model: "a-model", content: { type: "text" as const, text: "Paris" } };

async function first(id: string): Promise<FirstClient> {
  const client = new FirstClient({ name: "first", version: "1" }, { capabilities: { elicitation: {}, sampling: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => NAME);
  client.setRequestHandler(CreateMessageRequestSchema, async () => SAID);
  await client.connect(new FirstTransport(at(id), { fetch: inTurn(), requestInit: { headers: { "x-api-key": team.apiKey } } }) as never);
  return client;
}

async function second(id: string): Promise<Client> {
  const client = new Client(
    { name: "second", version: "1" },
    { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async () => NAME);
  client.setRequestHandler("sampling/createMessage", async () => SAID);
  await client.connect(
    new StreamableHTTPClientTransport(at(id), { fetch: inTurn(), requestInit: { headers: { "x-api-key": team.apiKey } } }),
  );
  return client;
}

describe.each([
  ["a handshake client and a stateless server", first, "stateless"],
  ["a stateless client and a handshake server", second, "handshake"],
  ["a handshake client and a handshake server", first, "handshake"],
  ["a stateless client and a stateless server", second, "stateless"],
] as const)("%s, with requests alternating between two processes", (_name, connect, server) => {
  test("list, call, elicit twice and sample", async () => {
    const client = await connect(ids[server]);
    expect((await client.listTools()).tools.length).toBeGreaterThan(20);
    for (let i = 0; i < 3; i++) {
      expect(textOf(await client.callTool({ name: "test_simple_text", arguments: {} }))).toContain("simple text");
      expect(textOf(await client.callTool({ name: "test_input_required_result_multi_round", arguments: {} }))).toBe("Ada likes blue");
      expect(textOf(await client.callTool({ name: "test_sampling", arguments: { prompt: "What is the capital of France?" } }))).toBe(
        "LLM response: Paris",
      );
    }
    await client.close();
  });
});

test.each(["handshake", "stateless"] as const)(
  "an approval requested at one process is redeemed at either, once (%s server)",
  async (server) => {
    const approving = await newTeam(admin, `approving ${server}`);
    await grant(admin, `approving ${server}`, ids[server], [approving.groupId], { approval_required_tools: ["test_simple_text"] });
    const urls = gateways.map(({ runtimeUrl }) => `${runtimeUrl}/v1/proxy/mcp/${ids[server]}`);
    // Configuration made at one process reaches the other a moment later.
    for (const url of urls)
      while (
        (await post(url, approving.apiKey, stateless(0, "tools/call", { name: "test_simple_text", arguments: { asked: "before" } }))).body
          .error?.data?.approval_id === undefined
      )
        await Bun.sleep(20);
    for (let round = 0; round < 6; round++) {
      const message = stateless(1, "tools/call", { name: "test_simple_text", arguments: {} });
      const held = await post(urls[round % 2] ?? "", approving.apiKey, message);
      const { approval_token: token } = await approver.post(`/v1/admin/approvals/${held.body.error.data.approval_id}/approve`, {});
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, (_, turn) => post(urls[turn % 2] ?? "", approving.apiKey, message, { "x-approval-token": token })),
      );
      expect(outcomes.filter(({ body }) => body.result !== undefined)).toHaveLength(1);
      expect(outcomes.filter(({ body }) => body.error?.data?.code === "approval_token_invalid")).toHaveLength(5);
    }
  },
);

/** Waits until a team can use a path at both processes: configuration made at one reaches the other a moment later. */
async function usable(path: string, { apiKey } = team): Promise<void> {
  for (const { runtimeUrl } of gateways)
    await until(
      () => post(`${runtimeUrl}/v1/proxy/${path}`, apiKey, stateless(0, "tools/list")),
      ({ status }) => status === 200,
    );
}

test.each(["handshake", "stateless"] as const)("a listener at either process gets each change once (%s server)", async (dialect) => {
  const changing = startChangingServer(dialect);
  serving.push(changing);
  const { id } = await admin.post("/v1/admin/mcp-servers", {
    tenant_id: "default",
    name: `changing ${dialect}`,
    base_url: changing.baseUrl,
  });
  await grant(admin, `changing ${dialect}`, id, [team.groupId]);
  await usable(`mcp/${id}`);
  const [one = "", other = ""] = gateways.map(({ runtimeUrl }) => `${runtimeUrl}/v1/proxy/mcp/${id}`);
  const begun = await post(one, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "listener", version: "1" } },
  });
  const inSession = {
    "x-api-key": team.apiKey,
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  const wish = JSON.stringify(stateless("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  const listening = [one, other].map((url) =>
    rawStream(
      url,
      "POST",
      { accept: "application/json, text/event-stream", "x-api-key": team.apiKey, "mcp-protocol-version": "2026-07-28" },
      wish,
    ),
  );
  await Promise.all(listening.map((stream) => stream.until("subscriptions/acknowledged")));
  // A session started at one process is listened to at the other.
  const streams = [...listening, rawStream(other, "GET", { accept: "text/event-stream", ...inSession })];
  await streams[2]?.until("text/event-stream");
  await until(() => changing.listening() >= 3);
  changing.tell("notifications/tools/list_changed");
  await Promise.all(streams.map((stream) => stream.until("notifications/tools/list_changed")));
  expect(streams.map((stream) => stream.count("notifications/tools/list_changed"))).toEqual([1, 1, 1]);
  for (const stream of streams) stream.close();
});

test("subscriptions, cancellations and log levels of a session apply at both processes", async () => {
  const changing = startChangingServer("stateless");
  serving.push(changing);
  const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "resources", base_url: changing.baseUrl });
  await grant(admin, "resources", id, [team.groupId]);
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "resources and tools",
    members: [
      { mcp_server_id: id, slug: "changing" },
      { mcp_server_id: ids.stateless, slug: "tools" },
    ],
    group_ids: [team.groupId],
  });
  for (const [path, uri] of [
    [`mcp/${id}`, "test://note"],
    [`vmcp/${virtual.id}`, "changing+test://note"],
  ] as const) {
    await usable(path);
    const [one = "", other = ""] = gateways.map(({ runtimeUrl }) => `${runtimeUrl}/v1/proxy/${path}`);
    const begun = await post(one, team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "listener", version: "1" } },
    });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    const stream = rawStream(other, "GET", { accept: "text/event-stream", "x-api-key": team.apiKey, ...session });
    await stream.until("text/event-stream");
    const say = (method: string) => post(one, team.apiKey, { jsonrpc: "2.0", id: 1, method, params: { uri } }, session);
    expect((await say("resources/subscribe")).body.result).toEqual({});
    // Notifications sent before the other process listens are lost, so repeat them.
    while (stream.count("notifications/resources/updated") === 0) {
      changing.tell("notifications/resources/updated", { uri: "test://note" });
      await Bun.sleep(50);
    }
    expect(stream.count(`"uri":"${uri}"`)).toBeGreaterThan(0);
    // A stream opened later gets them as well.
    const later = rawStream(other, "GET", { accept: "text/event-stream", "x-api-key": team.apiKey, ...session });
    while (later.count("notifications/resources/updated") === 0) {
      changing.tell("notifications/resources/updated", { uri: "test://note" });
      await Bun.sleep(50);
    }
    await say("resources/unsubscribe");
    expect((await database.db.selectFrom("tool_sessions").select("uris").execute()).every(({ uris }) => uris.length === 0)).toBe(true);
    expect(JSON.stringify(await database.db.selectFrom("tool_sessions").selectAll().execute())).not.toContain(session["mcp-session-id"]);
    stream.close();
    later.close();
  }
  const [one = "", other = ""] = gateways.map(({ runtimeUrl }) => `${runtimeUrl}/v1/proxy/mcp/${ids.stateless}`);
  const begun = await post(one, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "listener", version: "1" } },
  });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  const logs = async (level: string) => {
    expect(
      (await post(one, team.apiKey, { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level } }, session)).body.result,
    ).toEqual({});
    return post(
      other,
      team.apiKey,
      { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "test_tool_with_logging", arguments: {} } },
      session,
    );
  };
  expect((await logs("error")).text).not.toContain("notifications/message");
  await until(async () => (await logs("debug")).text.includes("notifications/message"));
  for (const [method, params] of [
    ["logging/setLevel", { level: "loud" }],
    ["resources/subscribe", { uri: `test://${"x".repeat(3000)}` }],
    ["resources/subscribe", { uri: "test://\0" }],
  ] as const)
    expect((await post(one, team.apiKey, { jsonrpc: "2.0", id: 4, method, params }, session)).body.error.code).toBe(-32602);
  // The tool asks a question that nobody answers: only the cancellation ends the call.
  const waiting = rawStream(
    one,
    "POST",
    { accept: "application/json, text/event-stream", "x-api-key": team.apiKey, ...session },
    JSON.stringify({
      jsonrpc: "2.0",
      id: "waits",
      method: "tools/call",
      params: { name: "test_input_required_result_multi_round", arguments: {} },
    }),
  );
  await waiting.until("elicitation/create");
  expect(
    (await post(other, team.apiKey, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "waits" } }, session)).status,
  ).toBe(202);
  const [row] = await rowsOf(admin, { mcp_request_id: "waits" }, 1);
  expect(row).toMatchObject({ success: false, mcp_capability_name: "test_input_required_result_multi_round" });
  waiting.close();
});

test("every request left one row, and no message between processes is left in the database", async () => {
  const rows = await rowsOf(admin, { mcp_capability_name: "test_sampling", server_id: ids.stateless }, 6);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(rows.filter(({ chain_id }) => chain_id !== rows[0].chain_id).length).toBeGreaterThan(0);
  // The last ones may still be in transit.
  await until(
    () => database.db.selectFrom("tool_letters").selectAll().execute(),
    (letters) => letters.length === 0,
  );
});

describe("an approval question, with each request at the other process, is answered for", () => {
  const approvedFrom = (url: string | undefined) =>
    approver.post(`/v1/admin/approvals/${/approvals\/([0-9a-f-]{36})/.exec(url ?? "")?.[1]}/approve`, {});
  let careful: Team;
  beforeAll(async () => {
    careful = await newTeam(admin, "careful");
    for (const [name, id] of Object.entries(ids))
      await grant(admin, `${name} with care`, id, [careful.groupId], { approval_required_tools: ["test_simple_text"] });
    for (const id of Object.values(ids)) await usable(`mcp/${id}`, careful);
  });

  test.each(["handshake", "stateless"] as const)("a handshake client at a %s server", async (server) => {
    const client = new FirstClient({ name: "first", version: "1" }, { capabilities: { elicitation: { url: {} } } });
    let answers: "accept" | "decline" = "decline";
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      if (answers === "accept" && params.mode === "url") await approvedFrom(params.url);
      return { action: answers };
    });
    await client.connect(
      new FirstTransport(at(ids[server]), { fetch: inTurn(), requestInit: { headers: { "x-api-key": careful.apiKey } } }) as never,
    );
    // The decline has to reach the process that holds the call.
    expect(await client.callTool({ name: "test_simple_text", arguments: {} }).catch(({ code }) => code)).toBe(4030);
    answers = "accept";
    expect(textOf(await client.callTool({ name: "test_simple_text", arguments: {} }))).toContain("simple text");
    await client.close();
  });

  test.each(["handshake", "stateless"] as const)("a stateless client at a %s server", async (server) => {
    const client = new Client(
      { name: "second", version: "1" },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      await approvedFrom(params.mode === "url" ? params.url : "");
      return { action: "accept" };
    });
    await client.connect(
      new StreamableHTTPClientTransport(at(ids[server]), { fetch: inTurn(), requestInit: { headers: { "x-api-key": careful.apiKey } } }),
    );
    expect(textOf(await client.callTool({ name: "test_simple_text", arguments: {} }))).toContain("simple text");
    await client.close();
  });
});

test("a session ended by its client is over at both processes", async () => {
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "ended",
    mcp_server_ids: Object.values(ids),
    group_ids: [team.groupId],
  });
  for (const path of [`mcp/${ids.stateless}`, `vmcp/${virtual.id}`]) {
    await usable(path);
    const [one = "", other = ""] = gateways.map(({ runtimeUrl }) => `${runtimeUrl}/v1/proxy/${path}`);
    const begun = await post(one, team.apiKey, {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "ends", version: "1" } },
    });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    const list = (url: string) => post(url, team.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/list" }, session);
    for (const url of [one, other]) expect((await list(url)).status).toBe(200);
    const stream = await fetch(other, { headers: { accept: "text/event-stream", "x-api-key": team.apiKey, ...session } });
    const end = (url: string) => fetch(url, { method: "DELETE", headers: { "x-api-key": team.apiKey, ...session } });
    expect((await end(one)).status).toBe(204);
    const gone = await list(one);
    expect([gone.status, gone.body.error.data.code]).toEqual([404, "session_not_found"]);
    await until(async () => (await list(other)).status === 404);
    expect(await stream.text()).not.toContain("data:");
    expect((await end(other)).status).toBe(404);
  }
});
