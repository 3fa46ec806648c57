import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AdminClient, rowsOf, signIn, signInAsApprover } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { rawStream } from "../../support/formats/raw-stream.ts";
import { until } from "../../support/until.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

let database: TestDatabase;
let gateways: [GatewayProcess, GatewayProcess];
let admin: AdminClient;
let approver: AdminClient;
let team: Team;
let fixtures: Record<"old" | "modern", ReturnType<typeof changeableServer>>;
let paths: Record<"old" | "modern" | "virtual", string>;

/** The current tools of both servers; `pay` is on the second page of their lists. */
let schema: Record<string, unknown>;
let description: string;
let listed: boolean;
let fails: "not" | "at once" | "never ends";

/** A server of one dialect whose tools can change; a handshake server keeps separate sessions for each of its addresses. */
function changeableServer(dialect: "handshake" | "stateless") {
  const called: unknown[] = [];
  const sessions = new Set<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = await request.json();
      const told = (result: object, headers = {}) =>
        Response.json(
          {
            jsonrpc: "2.0",
            id,
            result: { ...(dialect === "stateless" ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {}), ...result },
          },
          { headers },
        );
      if (dialect === "handshake" && method === "initialize") {
        const session = crypto.randomUUID();
        sessions.add(`${request.url} ${session}`);
        return told(
          { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } },
          { "mcp-session-id": session },
        );
      }
      if (dialect === "handshake" && !sessions.has(`${request.url} ${request.headers.get("mcp-session-id") ?? ""}`))
        return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, { status: 404 });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "server/discover" && dialect === "stateless")
        return told({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
      if (method === "tools/list" && fails === "at once") return new Response("not now", { status: 500 });
      if (method === "tools/list" && fails === "never ends")
        return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(": working\n\n")) }), {
          headers: { "content-type": "text/event-stream" },
        });
      if (method === "tools/list" && params?.cursor === undefined)
        return told({ tools: [{ name: "other", inputSchema: { type: "object" } }], nextCursor: "2" });
      if (method === "tools/list") return told({ tools: listed ? [{ name: "pay", description, inputSchema: schema }] : [] });
      if (method !== "tools/call") return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
      called.push(params.arguments);
      if (params.arguments.asks === true && params.inputResponses === undefined)
        return told({
          resultType: "input_required",
          inputRequests: {
            sure: { method: "elicitation/create", params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } } },
          },
          requestState: "asked",
        });
      return told({ content: [{ type: "text", text: "paid" }] });
    },
  });
  return { called, baseUrl: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

beforeAll(async () => {
  database = await testDatabase();
  const env = { GW_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"), GW_JWT_SECRET: "the same secret for both of the processes" };
  gateways = [
    await startGateway({ databaseUrl: database.url, env }),
    await startGateway({ databaseUrl: database.url, env: { ...env, GW_ROLES: "runtime" } }),
  ];
  admin = await signIn(gateways[0].adminUrl);
  approver = await signInAsApprover(gateways[0].adminUrl, admin);
  team = await newTeam(admin, "payers");
  await changed({});
  fixtures = { old: changeableServer("handshake"), modern: changeableServer("stateless") };
  const ids: Record<string, string> = {};
  for (const [name, { baseUrl }] of Object.entries(fixtures)) {
    const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: baseUrl, timeout: 3 });
    await grant(admin, `${name} with approval`, id, [team.groupId], { approval_required_tools: ["pay"] });
    ids[name] = id;
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "both",
    mcp_server_ids: Object.values(ids),
    group_ids: [team.groupId],
  });
  paths = { old: `/v1/proxy/mcp/${ids.old}`, modern: `/v1/proxy/mcp/${ids.modern}`, virtual: `/v1/proxy/vmcp/${virtual.id}` };
  for (const gateway of gateways)
    await until(
      () => post(gateway.runtimeUrl + paths.virtual, team.apiKey, stateless(1, "tools/list")),
      ({ status }) => status === 200,
    );
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await Promise.all(Object.values(fixtures).map((fixture) => fixture.stop()));
  await database.close();
  for (const { dataDir } of gateways) await removeDirectory(dataDir);
});
beforeEach(() => changed({}));

function changed(to: { schema?: Record<string, unknown>; description?: string; listed?: boolean; fails?: typeof fails }) {
  schema = to.schema ?? { type: "object", properties: { amount: { type: "number", description: "in euros" } } };
  description = to.description ?? "Pays";
  listed = to.listed ?? true;
  fails = to.fails ?? "not";
}

/** A new definition that the other process does not know until it asks the server. */
const IN_CENTS = { type: "object", properties: { amount: { type: "number", description: "in cents" } } };

let amounts = 0;

/** Returns a function that repeats the same call of one caller at any process. */
async function caller(path: string, tool: string, dialect: "handshake" | "stateless", more: Record<string, unknown> = {}) {
  const args = { amount: amounts++, ...more };
  const sessions = new Map<GatewayProcess, string>();
  return async (gateway: GatewayProcess, headers: Record<string, string> = {}, rest: Record<string, unknown> = {}) => {
    const url = gateway.runtimeUrl + path;
    if (dialect === "stateless")
      return post(url, team.apiKey, stateless(1, "tools/call", { name: tool, arguments: args, ...rest }), headers);
    if (!sessions.has(gateway)) {
      const begun = await post(url, team.apiKey, {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
      });
      sessions.set(gateway, begun.headers.get("mcp-session-id") ?? "");
    }
    return post(
      url,
      team.apiKey,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } },
      { "mcp-session-id": sessions.get(gateway) ?? "", ...headers },
    );
  };
}

const approve = async (id: string) => ({
  "x-approval-token": (await approver.post(`/v1/admin/approvals/${id}/approve`, {})).approval_token as string,
});

describe.each([
  ["a stateless server", "modern", "pay", "stateless", "modern"],
  ["a stateless server behind the bridge", "modern", "pay", "handshake", "modern"],
  ["a handshake server", "old", "pay", "handshake", "old"],
  ["a handshake server behind the bridge", "old", "pay", "stateless", "old"],
  ["a member of a virtual server", "virtual", "old__pay", "stateless", "old"],
] as const)("an approval of a tool on %s", (_name, path, tool, dialect, fixture) => {
  test("becomes invalid when the tool's input schema changes, on every process", async () => {
    const [one, two] = gateways;
    const send = await caller(paths[path], tool, dialect);
    const { body } = await send(one);
    expect(body.error.data.code).toBe("approval_required");
    const token = await approve(body.error.data.approval_id);
    changed({ schema: IN_CENTS });
    const before = fixtures[fixture].called.length;
    for (const gateway of [two, one]) {
      const answer = await send(gateway, token);
      expect([answer.status, answer.body.error.code, answer.body.error.data.code]).toEqual([403, 4031, "approval_token_invalid"]);
    }
    expect(fixtures[fixture].called).toHaveLength(before);
    const again = await send(two);
    expect((await send(one, await approve(again.body.error.data.approval_id))).body.result.content[0].text).toBe("paid");
    const [row] = await rowsOf(admin, { consumed_approval_request_id: again.body.error.data.approval_id }, 1);
    expect(row.tool_definition_hash).toBe(
      new Bun.CryptoHasher("sha256")
        .update(
          JSON.stringify({
            description,
            inputSchema: { properties: { amount: { description: "in cents", type: "number" } }, type: "object" },
            name: "pay",
          }),
        )
        .digest("hex"),
    );
  });

  test("stays valid when the tool's description changes, and while the server cannot be asked for its tools", async () => {
    const [one, two] = gateways;
    const send = await caller(paths[path], tool, dialect);
    const token = await approve((await send(one)).body.error.data.approval_id);
    const told = async (how: typeof fails) => {
      changed({ description: "Pays, as of another minute", fails: how });
      const { status, body } = await send(two, token);
      return [status, body.error.data.code];
    };
    expect(await told("at once")).toEqual([502, "upstream_error"]);
    expect(await told("never ends")).toEqual([504, "upstream_timeout"]);
    changed({ description: "Pays, as of another minute" });
    expect((await send(two, token)).body.result.content[0].text).toBe("paid");
  });
});

test.each([
  ["old", "handshake"],
  ["modern", "stateless"],
] as const)("an approval for a subpath of a %s server is checked against the tools at that subpath", async (server, dialect) => {
  const [one, two] = gateways;
  const send = await caller(`${paths[server]}/another/mcp`, "pay", dialect);
  const token = await approve((await send(one)).body.error.data.approval_id);
  changed({ schema: IN_CENTS });
  expect((await send(one, token)).body.error.data.code).toBe("approval_token_invalid");
  changed({});
  expect((await send(dialect === "handshake" ? one : two, token)).body.result.content[0].text).toBe("paid");
});

test("a pending approval expires when the tool's schema changes, and the same call requests a new one", async () => {
  const send = await caller(paths.modern, "pay", "stateless");
  const first = (await send(gateways[0])).body.error.data.approval_id;
  expect((await send(gateways[1])).body.error.data.approval_id).toBe(first);
  changed({ schema: IN_CENTS });
  const second = (await send(gateways[1])).body.error.data.approval_id;
  expect(second).not.toBe(first);
  expect((await admin.get(`/v1/admin/approvals/${first}`)).status).toBe("expired");
  expect((await send(gateways[0], await approve(second))).body.result.content[0].text).toBe("paid");
});

test("an approval of a tool that is not listed is invalid as soon as the tool is listed", async () => {
  changed({ listed: false });
  const send = await caller(paths.modern, "pay", "stateless");
  const { approval_id: id } = (await send(gateways[0])).body.error.data;
  const token = await approve(id);
  changed({});
  expect((await send(gateways[0], token)).body.error.data.code).toBe("approval_token_invalid");
  changed({ listed: false });
  expect((await send(gateways[1], token)).body.result.content[0].text).toBe("paid");
});

test("a call held through URL elicitation is refused if the tool's schema changes before it continues", async () => {
  const capabilities = { elicitation: { url: {} } };
  const args = { amount: amounts++ };
  const message = (rest = {}) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "pay",
      arguments: args,
      ...rest,
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities },
    },
  });
  const [one, two] = gateways;
  const { requestState, _meta } = (await post(one.runtimeUrl + paths.modern, team.apiKey, message())).body.result;
  await approve(_meta["dev.gatehouse/approval"].approval_id);
  changed({ schema: IN_CENTS });
  expect((await post(two.runtimeUrl + paths.modern, team.apiKey, message({ requestState }))).body.error.data.code).toBe(
    "approval_token_invalid",
  );

  changed({});
  const begun = await post(one.runtimeUrl + paths.old, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } },
  });
  const stream = rawStream(
    one.runtimeUrl + paths.old,
    "POST",
    {
      accept: "application/json, text/event-stream",
      "x-api-key": team.apiKey,
      "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    },
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "pay", arguments: args } }),
  );
  await stream.until("elicitation/create");
  changed({ schema: IN_CENTS });
  await approve(/approvals\/([0-9a-f-]{36})\/page/.exec(stream.text())?.[1] ?? "");
  await stream.until("approval_token_invalid");
  stream.close();
});

test("a call waiting for input is refused if the tool's schema changes before it continues", async () => {
  const send = await caller(paths.modern, "pay", "stateless", { asks: true });
  const token = await approve((await send(gateways[0])).body.error.data.approval_id);
  const { requestState } = (await send(gateways[0], token)).body.result;
  const answered = { requestState, inputResponses: { sure: { action: "accept", content: {} } } };
  changed({ schema: IN_CENTS });
  expect((await send(gateways[1], {}, answered)).body.error.data.code).toBe("approval_token_invalid");
  changed({});
  expect((await send(gateways[1], {}, answered)).body.result.content[0].text).toBe("paid");
});
