import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { png } from "../../support/formats/pictures.ts";
import { startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team, textOf } from "./mcp-harness.ts";

let world: World;
let old: ToolServerFixture;
let modern: ToolServerFixture;
let oldId: string;
let modernId: string;
let team: Team;
let narrow: Team;

const at = (id: string) => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;

const BEGIN = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

beforeAll(async () => {
  world = await startWorld();
  old = startHandshakeServer();
  modern = startStatelessServer();
  const { admin } = world;
  const made = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "old tools", base_url: old.baseUrl });
  oldId = made.id;
  modernId = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "new tools", base_url: modern.baseUrl })).id;
  team = await newTeam(admin, "wide");
  narrow = await newTeam(admin, "narrow", { parent_group_id: team.groupId });
  for (const [id, name] of [
    [oldId, "old"],
    [modernId, "new"],
  ] as const) {
    await grant(admin, `${name} for all`, id, [team.groupId]);
    await grant(admin, `${name} for few`, id, [narrow.groupId], { disabled_tools: ["secret"] });
  }
});
afterAll(async () => {
  await old.stop();
  await modern.stop();
  await world.end();
});

describe("discovery", () => {
  test("finds each server's protocol version and tools", async () => {
    const [first, second] = await Promise.all([oldId, modernId].map((id) => world.admin.get(`/v1/admin/mcp-servers/${id}`)));
    expect([first.dialect, first.protocol_version, first.server_version, first.tools.map((tool: any) => tool.name)]).toEqual([
      "handshake",
      "2025-11-25",
      "1.2.3",
      ["echo", "secret", "fail", "steps", "ask", "ask_aside", "many"],
    ]);
    expect([second.dialect, second.protocol_version, second.server_version, second.tools.length]).toEqual([
      "stateless",
      "2026-07-28",
      "4.5.6",
      4,
    ]);
    expect(oldId).toMatch(/^mcp-[0-9A-Z]{26}$/);
  });

  test("a second registration of the same address gets 409 with the existing ID", async () => {
    const twice = await world.admin.request("POST", "/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "again",
      base_url: `${old.baseUrl}/`,
    });
    expect([twice.status, twice.body.existing_id, twice.body.detail]).toEqual([
      409,
      oldId,
      "There is already a tool server at this base_url and mcp_endpoint_path.",
    ]);
    const wrong = await world.admin.request("POST", "/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "wrong",
      base_url: old.baseUrl,
      timeout: "3",
    });
    expect([wrong.status, wrong.body.fields[0].field, wrong.body.fields[0].message]).toEqual([
      400,
      "timeout",
      expect.stringContaining("number"),
    ]);
  });

  test("of an unreachable server is inconclusive and stores nothing", async () => {
    const gone = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "gone", base_url: "http://127.0.0.1:9" });
    expect([gone.discovery.status, gone.dialect, gone.discovered_at]).toEqual(["inconclusive", null, null]);
    const health = await world.admin.post(`/v1/admin/mcp-servers/${gone.id}/health-check`, {}).catch((error: Error) => error.message);
    expect(health).toMatchObject({ is_healthy: false, status: "inconclusive" });
  });

  test("of an address works before it is registered", async () => {
    const tried = await world.admin.post("/v1/admin/mcp-servers/test-connection", { tenant_id: "default", base_url: modern.baseUrl });
    expect([tried.status, tried.dialect, tried.tools]).toEqual(["found", "stateless", ["echo", "secret", "ask", "many"]]);
  });
});

describe.each([
  ["handshake client, handshake server", handshakeClient, () => oldId, "old: hi"],
  ["stateless client, stateless server", statelessClient, () => modernId, "new: hi"],
  ["handshake client, stateless server", handshakeClient, () => modernId, "new: hi"],
  ["stateless client, handshake server", statelessClient, () => oldId, "old: hi"],
] as const)("%s", (_name, connect, serverId, echoed) => {
  test("lists and calls tools, with one row for each call", async () => {
    const run = `run-${crypto.randomUUID()}`;
    const client = await connect(at(serverId()), team.apiKey, { "x-gw-run-id": run });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(0, 2)).toEqual(["echo", "secret"]);
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "hi" } }))).toBe(echoed);
    await client.close();
    const root = (await rowOf(world.admin, { mcp_method: "tools/call", mcp_capability_name: "echo", server_id: serverId() })).root_task_id;
    const rows = await rowsOf(world.admin, { root_task_id: root, mcp_method: "tools/call" }, 1);
    expect(rows).toHaveLength(1);
    const known = await world.admin.get(`/v1/admin/mcp-servers/${serverId()}`);
    expect(rows[0]).toMatchObject({
      proxy_type: "mcp",
      mcp_capability_name: "echo",
      success: true,
      http_status_code: 200,
      server_version: known.server_version,
      tool_definition_hash: known.tools.find((tool: any) => tool.name === "echo").hash,
      llm_prompt_tokens: null,
    });
  });

  test("reads prompts and resources", async () => {
    const client = await connect(at(serverId()), team.apiKey);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["greet"]);
    expect((await client.getPrompt({ name: "greet" })).messages).toHaveLength(1);
    const read = await client.readResource({ uri: "test://note" });
    expect((read.contents[0] as { text: string }).text).toContain("note");
    await client.close();
  });

  test("lists only permitted tools, and refuses the others", async () => {
    const client = await connect(at(serverId()), narrow.apiKey);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("echo");
    expect(names).not.toContain("secret");
    expect(client.callTool({ name: "secret", arguments: {} })).rejects.toThrow();
    await client.close();
    const row = await rowOf(world.admin, { mcp_capability_name: "secret", resource_group_id: narrow.groupId, server_id: serverId() });
    expect([row.http_status_code, row.error_type, row.success]).toEqual([403, "tool_not_allowed", false]);
  });

  test("answers a tool's question", async () => {
    const client = await connect(at(serverId()), team.apiKey);
    expect(textOf(await client.callTool({ name: "ask", arguments: {} }))).toBe("hello Ada");
    await client.close();
  });
});

describe("the same protocol version on both sides", () => {
  test("passes bytes unchanged, including numbers and spacing", async () => {
    const odd = `{ "jsonrpc":"2.0" ,"id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi","big":12345678901234567890,"n":1.50},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`;
    const answer = await post(at(modernId), team.apiKey, odd, {
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      "mcp-protocol-version": "2026-07-28",
    });
    expect(modern.seen.at(-1)?.body).toBe(odd);
    expect(answer.text).toBe(modern.sent.at(-1) as string);
  });

  test.each([
    ["any type", "*/*", "text/event-stream"],
    ["JSON only", "application/json", "application/json"],
  ])("answers a caller that accepts %s in an accepted content type", async (_takes, accept, contentType) => {
    const begun = await post(at(oldId), team.apiKey, BEGIN, { accept });
    const session = { accept, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call" };
    const params = { name: "steps", _meta: { progressToken: "t" } };
    const steps = await post(at(oldId), team.apiKey, { ...call, params }, session);
    expect([steps.status, steps.headers.get("content-type"), textOf(steps.body.result)]).toEqual([200, contentType, "done"]);
    expect(old.seen.at(-1)?.headers.accept).toBe("application/json, text/event-stream");
    const list = await post(at(oldId), team.apiKey, { jsonrpc: "2.0", id: 3, method: "tools/list" }, session);
    expect(list.body.result.tools).toHaveLength(7);
  });

  test("binds a session to the caller that opened it", async () => {
    const opened = await post(at(oldId), team.apiKey, BEGIN);
    const session = opened.headers.get("mcp-session-id") ?? "";
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(at(oldId), team.apiKey, list, { "mcp-session-id": session })).body.result.tools).toHaveLength(7);
    const stolen = await post(at(oldId), narrow.apiKey, list, { "mcp-session-id": session });
    expect([stolen.status, stolen.body.error.data.code]).toEqual([404, "session_not_found"]);
    expect((await post(at(oldId), team.apiKey, list)).status).toBe(400);
  });

  test("sends progress before the answer", async () => {
    const client = await handshakeClient(at(oldId), team.apiKey);
    const seen: number[] = [];
    const result = await client.callTool({ name: "steps", arguments: {} }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    expect([seen, textOf(result)]).toEqual([[1, 2], "done"]);
    await client.close();
  });
});

test("progress reaches a client of the other protocol version", async () => {
  const client = await statelessClient(at(oldId), team.apiKey);
  const seen: number[] = [];
  const result = await client.callTool({ name: "steps", arguments: {} }, { onprogress: ({ progress }) => seen.push(progress) });
  expect([seen, textOf(result)]).toEqual([[1, 2], "done"]);
  await client.close();
});

test("a question on a handshake server's session stream is answered by clients of both protocol versions", async () => {
  for (const connect of [handshakeClient, statelessClient]) {
    const client = await connect(at(oldId), team.apiKey);
    expect(textOf(await client.callTool({ name: "ask_aside", arguments: {} }))).toBe("hello Ada");
    await client.close();
  }
});

test("concurrent calls of one caller share a session at a handshake server", async () => {
  const client = await statelessClient(at(oldId), narrow.apiKey);
  const before = old.seen.filter(({ body }) => body.includes('"initialize"')).length;
  await Promise.all(Array.from({ length: 8 }, (_, i) => client.callTool({ name: "echo", arguments: { text: String(i) } })));
  expect(old.seen.filter(({ body }) => body.includes('"initialize"')).length - before).toBeLessThanOrEqual(1);
  await client.close();
});

test("a tool's own error is a result, tagged on its row", async () => {
  const client = await handshakeClient(at(oldId), team.apiKey);
  const failed = (await client.callTool({ name: "fail", arguments: {} })) as { isError?: boolean };
  expect(failed.isError).toBe(true);
  await client.close();
  const row = await rowOf(world.admin, { mcp_capability_name: "fail" });
  expect([row.success, row.tags]).toEqual([true, ["tool_error"]]);
});

describe("a refusal", () => {
  const call = stateless(5, "tools/call", { name: "echo", arguments: { text: "x" } });

  test.each([
    ["another method than the body", { "mcp-method": "tools/list" }],
    ["another name than the body", { "mcp-name": "secret" }],
    ["a name that cannot be decoded", { "mcp-name": "=?base64?%%%?=" }],
    ["another version than the body", { "mcp-protocol-version": "2025-11-25" }],
  ])("of a header with %s: 400 and -32020", async (_name, headers) => {
    const answer = await post(at(modernId), team.apiKey, call, headers as Record<string, string>);
    expect([answer.status, answer.body.id, answer.body.error.code]).toEqual([400, 5, -32020]);
  });

  test("of an argument header that differs from the argument: 400 and -32020", async () => {
    const tools = [{ name: "find", inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } } }];
    const told: (string | null)[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        if (request.method === "GET") return new Response(null, { status: 405 });
        const { id, method } = (await request.json()) as { id: number; method: string };
        if (method === "tools/call") told.push(request.headers.get("mcp-param-region"));
        const result =
          method === "server/discover"
            ? { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" }
            : method === "tools/list"
              ? { tools, ttlMs: 0, cacheScope: "private" }
              : { content: [] };
        return Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
      },
    });
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: "regions",
      base_url: `http://127.0.0.1:${server.port}`,
    });
    const regional = await newTeam(world.admin, "regional");
    await grant(world.admin, "regions", id, [regional.groupId]);
    const find = stateless(5, "tools/call", { name: "find", arguments: { region: "eu" } });
    const other = await post(at(id), regional.apiKey, find, { "Mcp-Param-Region": "us" });
    expect([other.status, other.body.error.code]).toEqual([400, -32020]);
    expect((await post(at(id), regional.apiKey, find, { "Mcp-Param-Region": "eu" })).status).toBe(200);
    expect((await post(at(id), regional.apiKey, find)).status).toBe(200);
    expect(told).toEqual(["eu", "eu"]);
    await server.stop(true);
  });

  test("is not given for an encoded name that matches once decoded, or for absent headers", async () => {
    expect((await post(at(modernId), team.apiKey, call, { "mcp-name": `=?base64?${btoa("echo")}?=` })).status).toBe(200);
    expect((await post(at(modernId), team.apiKey, call)).status).toBe(200);
  });

  test.each([
    ["a name with a NUL", { ...call, params: { ...call.params, name: "ec\0ho" } }, 400, -32602],
    ["a name with a lone surrogate", { ...call, params: { ...call.params, name: "echo\ud800" } }, 400, -32602],
    ["not JSON", "{", 400, -32700],
    ["a batch", "[]", 400, -32600],
    ["a duplicate name", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"secret"}}', 400, -32600],
    ...[
      '"params":{"name":"echo","Name":"secret"}',
      '"params":{"name":"echo"},"Params":{"name":"secret"}',
      '"params":{"name":"echo"},"Method":"ping"',
      '"params":{"name":"echo","arguments":{},"Arguments":{"text":"x"}}',
      '"params":{"name":"echo","argumentſ":{"text":"x"}}',
      '"params":{"name":"echo","arguments":{"sql":"select 1","SQL":"delete from t"}}',
    ].map((members): [string, string, number, number] => [
      `names in another case: ${members}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call",${members}}`,
      400,
      -32600,
    ]),
    ["a call without a name", { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }, 400, -32602],
    [
      "no capabilities",
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } },
      400,
      -32602,
    ],
  ])("of %s", async (_name, body, status, code) => {
    const answer = await post(at(modernId), team.apiKey, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test("of an unknown key, an unknown server and an ungranted server: 401, 404 and 403", async () => {
    const stranger = await newTeam(world.admin, `strangers ${crypto.randomUUID()}`);
    const answers = await Promise.all([
      post(at(modernId), `sk_gw_api_${"x".repeat(43)}`, call),
      post(at("mcp-nothing"), team.apiKey, call),
      post(at(modernId), stranger.apiKey, call),
    ]);
    expect(answers.map(({ status, body }) => [status, body.error.code, body.error.data.code])).toEqual([
      [401, 4031, "unauthenticated"],
      [404, 4031, "tool_server_not_found"],
      [403, 4031, "tool_server_not_allowed"],
    ]);
  });

  test("of a page of another origin, and of a rebound host name: 403", async () => {
    const page = await post(at(modernId), team.apiKey, call, { origin: "https://evil.example" });
    const rebound = await post(at(modernId), team.apiKey, call, { host: "evil.example" });
    expect([page.status, rebound.status]).toEqual([403, 403]);
    expect((await post(at(modernId), team.apiKey, call, { origin: world.gateway.runtimeUrl })).status).toBe(200);
  });

  test("of GET and DELETE in the stateless protocol version: 405", async () => {
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(at(modernId), { method, headers: { "x-api-key": team.apiKey, "mcp-protocol-version": "2026-07-28" } });
      expect(response.status).toBe(405);
    }
  });

  test("of a tool call or text sent to a sub-path of the server: 403", async () => {
    const hidden = await post(`${at(oldId)}/mcp`, narrow.apiKey, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "secret" },
    });
    const raw = await post(`${at(oldId)}/upload`, narrow.apiKey, "plain text", { "content-type": "text/plain" });
    expect([hidden.status, hidden.body.error.data.code, raw.status]).toEqual([403, "tool_not_allowed", 403]);
  });

  test("of DELETE on a sub-path, while GET and HEAD pass: 403", async () => {
    const server = startScriptedToolServer("handshake", (message) => (message === null ? new Response("report") : undefined));
    const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "reports", base_url: server.baseUrl });
    const readers = await newTeam(world.admin, "readers");
    await grant(world.admin, "reports", id, [readers.groupId], { disabled_tools: ["closed"] });
    const statuses: Record<string, number> = {};
    for (const method of ["GET", "HEAD", "DELETE"])
      statuses[method] = (await fetch(`${at(id)}/report`, { method, headers: { "x-api-key": readers.apiKey } })).status;
    await server.stop();
    expect(statuses).toEqual({ GET: 200, HEAD: 200, DELETE: 403 });
    expect(server.seen.slice(-2).map(({ http }) => http)).toEqual(["GET", "HEAD"]);
  });

  test("of another tenant's servers: 404", async () => {
    await world.admin.post("/v1/admin/tenants", { id: "other", name: "Other" });
    const other = await newTeam(world.admin, "others", {}, "other");
    const answer = await post(at(modernId), other.apiKey, call);
    expect([answer.status, answer.body.error.data.code]).toEqual([404, "tool_server_not_found"]);
    const config = await world.admin.request("POST", "/v1/admin/server-configs", {
      tenant_id: "other",
      name: "stolen",
      mcp_server_id: modernId,
    });
    expect([config.status, config.body.fields[0].field]).toEqual([400, "mcp_server_id"]);
  });
});

test("each discovery stores a snapshot with the difference to the one before", async () => {
  const fixture = startHandshakeServer({ version: "9" });
  const made = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "changing", base_url: fixture.baseUrl });
  const again = await world.admin.post(`/v1/admin/mcp-servers/${made.id}/refresh-capabilities`, {});
  expect(again.diff).toEqual({ added: [], removed: [], changed: [], changed_under_approval: [] });
  const { snapshots } = await world.admin.get(`/v1/admin/mcp-servers/${made.id}/snapshots`);
  expect(snapshots.map((snapshot: any) => [snapshot.tools.length, snapshot.diff.added.length])).toEqual([
    [7, 0],
    [7, 7],
  ]);
  await fixture.stop();
});

test("an icon is stored by its actual content, and invalid images are refused", async () => {
  const send = (content: Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set("file", new File([content], "icon.png", { type: "image/png" }));
    return fetch(`${world.gateway.adminUrl}/v1/admin/mcp-servers/${oldId}/icon`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.admin.token}` },
      body: form,
    });
  };
  const icon = new Uint8Array(png());
  expect((await send(new Uint8Array(png({ after: "<script>" })))).status).toBe(200);
  expect((await world.admin.get(`/v1/admin/mcp-servers/${oldId}`)).icon_url).toBe(
    `data:image/png;base64,${Buffer.from(icon).toString("base64")}`,
  );
  for (const bad of [new TextEncoder().encode("<svg/>"), icon.slice(0, -1)]) {
    const refused = await send(bad);
    expect([refused.status, ((await refused.json()) as any).fields[0].field]).toEqual([400, "file"]);
  }
});

test("a group's effective server configurations include inherited ones", async () => {
  const effective = await world.admin.get(`/v1/admin/resource-groups/${narrow.groupId}/effective-server-configs`);
  expect(effective.server_configs.map((config: any) => [config.name, config.inherited]).sort()).toEqual([
    ["new for all", true],
    ["new for few", false],
    ["old for all", true],
    ["old for few", false],
  ]);
  expect(effective.effective.every((one: any) => one.disabled_tools[0] === "secret")).toBe(true);
});
