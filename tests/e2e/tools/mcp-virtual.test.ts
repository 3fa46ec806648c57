import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team, textOf } from "./mcp-harness.ts";

let world: World;
let old: ToolServerFixture;
let modern: ToolServerFixture;
let dying: ToolServerFixture;
let url: string;
let virtualId: string;
let ids: { old: string; modern: string; dying: string; hidden: string };
let team: Team;

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  old = startHandshakeServer();
  modern = startStatelessServer();
  dying = startStatelessServer();
  const register = async (name: string, baseUrl: string) =>
    (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: baseUrl })).id as string;
  ids = {
    old: await register("Old Tools", old.baseUrl),
    modern: await register("New Tools!", modern.baseUrl),
    dying: await register("dying", dying.baseUrl),
    hidden: await register("hidden", `${old.baseUrl}/./`),
  };
  team = await newTeam(admin, "team");
  await grant(admin, "old", ids.old, [team.groupId], { disabled_tools: ["secret"] });
  await grant(admin, "modern", ids.modern, [team.groupId]);
  await grant(admin, "dying", ids.dying, [team.groupId]);
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "all",
    description: "Everything.",
    members: [{ mcp_server_id: ids.old }, { mcp_server_id: ids.modern, slug: "new" }, { mcp_server_id: ids.hidden }],
    group_ids: [team.groupId],
  });
  virtualId = virtual.id;
  expect(virtual.members.map(({ slug }: any) => slug)).toEqual(["old-tools", "new", "hidden"]);
  url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtualId}`;
});
afterAll(async () => {
  await Promise.all([old, modern, dying].map((fixture) => fixture.stop()));
  await world.end();
});

describe.each([
  ["handshake", handshakeClient],
  ["stateless", statelessClient],
] as const)("a %s client of a virtual server", (_name, connect) => {
  test("lists permitted members' tools under their slugs, and calls them", async () => {
    const client = await connect(url, team.apiKey);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("old-tools__echo");
    expect(names).toContain("new__echo");
    expect(names).not.toContain("old-tools__secret");
    expect(names.some((name) => name.startsWith("hidden"))).toBe(false);
    expect(textOf(await client.callTool({ name: "old-tools__echo", arguments: { text: "a" } }))).toBe("old: a");
    expect(textOf(await client.callTool({ name: "new__echo", arguments: { text: "b" } }))).toBe("new: b");
    await client.close();
    const row = await rowOf(world.admin, { mcp_capability_name: "new__echo", proxy_type: "virtual_mcp" });
    expect([row.server_id, row.server_version, row.custom_metadata.virtual_server_id]).toEqual([ids.modern, "4.5.6", virtualId]);
    expect(row.tool_definition_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("reads prompts and resources, whose URIs name their member", async () => {
    const client = await connect(url, team.apiKey);
    expect((await client.listPrompts()).prompts.map(({ name }) => name).sort()).toEqual(["new__greet", "old-tools__greet"]);
    expect((await client.getPrompt({ name: "new__greet" })).messages).toHaveLength(1);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(["new+test://note", "old-tools+test://note"]);
    for (const { uri } of resources) {
      const [content] = (await client.readResource({ uri })).contents as { uri: string; text: string }[];
      expect([content?.uri, content?.text]).toEqual([uri, uri.startsWith("new") ? "a new note" : "an old note"]);
    }
    await client.close();
  });

  test("answers questions of members of both protocol versions", async () => {
    const client = await connect(url, team.apiKey);
    for (const slug of ["old-tools", "new"])
      expect(textOf(await client.callTool({ name: `${slug}__ask`, arguments: {} }))).toBe("hello Ada");
    await client.close();
  });

  test("is refused tools that are disabled, ungranted or unknown", async () => {
    const client = await connect(url, team.apiKey);
    for (const name of ["old-tools__secret", "hidden__echo", "nothing__echo", "echo"])
      expect(client.callTool({ name, arguments: {} })).rejects.toThrow();
    await client.close();
  });
});

/** A server of either dialect that supports completion, and records what it was asked. */
function startCompleting(dialect: "handshake" | "stateless", capabilities: object) {
  const asked: any[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as any;
      const told = (result: object) =>
        Response.json({ jsonrpc: "2.0", id, result: dialect === "stateless" ? { resultType: "complete", ...result } : result });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "server/discover" && dialect === "stateless")
        return told({ supportedVersions: ["2026-07-28"], capabilities, ttlMs: 0, cacheScope: "private" });
      if (method === "initialize" && dialect === "handshake")
        return told({ protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "completing", version: "1" } });
      if (method === "tools/list")
        return told({
          tools: [{ name: "long", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }],
          ttlMs: 0,
          cacheScope: "private",
        });
      if (method !== "completion/complete")
        return Response.json(
          { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } },
          { status: dialect === "stateless" ? 404 : 200 },
        );
      asked.push(params);
      return told({ completion: { values: [`${params.argument.value}!`], total: 1, hasMore: false } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}

test("completions come from the member that has the prompt or template, and tasks are not offered", async () => {
  const { admin } = world;
  const fixtures = [
    startCompleting("handshake", { completions: {}, tools: {}, tasks: { requests: { tools: { call: {} } } } }),
    startCompleting("stateless", { completions: {}, tools: {} }),
    startCompleting("stateless", { tools: {} }),
  ];
  const members = [];
  for (const [index, { baseUrl }] of fixtures.entries()) {
    const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: `completing ${index}`, base_url: baseUrl });
    await grant(admin, `completing ${index}`, id, [team.groupId]);
    members.push({ mcp_server_id: id, slug: `c${index}` });
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "completing",
    members,
    group_ids: [team.groupId],
  });
  const address = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  for (const connect of [handshakeClient, statelessClient]) {
    const client = await connect(address, team.apiKey);
    expect(client.getServerCapabilities()).toMatchObject({ completions: {} });
    expect(client.getServerCapabilities()).not.toHaveProperty("tasks");
    expect(
      (
        await client.complete({
          ref: { type: "ref/prompt", name: "c0__greet" },
          argument: { name: "who", value: "Ad" },
          context: { arguments: { tone: "kind" } },
        })
      ).completion.values,
    ).toEqual(["Ad!"]);
    expect(
      (await client.complete({ ref: { type: "ref/resource", uri: "c1+file:///{path}" }, argument: { name: "path", value: "a" } }))
        .completion.values,
    ).toEqual(["a!"]);
    expect(
      (await client.complete({ ref: { type: "ref/prompt", name: "c2__greet" }, argument: { name: "who", value: "Ad" } })).completion.values,
    ).toEqual([]);
    for (const name of ["greet", "nobody__greet"])
      expect(
        await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: "who", value: "" } }).catch(({ code }) => code),
      ).toBe(-32602);
    await client.close();
  }
  expect(fixtures.map(({ asked }) => asked.map(({ ref }) => ref.name ?? ref.uri))).toEqual([
    ["greet", "greet"],
    ["file:///{path}", "file:///{path}"],
    [],
  ]);
  expect(fixtures[0]?.asked[0]).toMatchObject({ argument: { name: "who", value: "Ad" }, context: { arguments: { tone: "kind" } } });
  const row = await rowOf(admin, { mcp_method: "completion/complete", mcp_capability_name: "c1+file:///{path}" });
  expect([row.server_id, row.success]).toEqual([members[1]?.mcp_server_id, true]);

  for (const method of ["tasks/get", "tasks/cancel", "tasks/update", "tasks/list"]) {
    const refused = await post(address, team.apiKey, stateless(1, method, { taskId: "t" }));
    expect([refused.status, refused.body.error.code]).toEqual([404, -32601]);
    // The answer does not reveal what such a request would need either.
    const bare = await post(address, team.apiKey, stateless(1, method));
    expect([bare.status, bare.body.error.code]).toEqual([404, -32601]);
  }
  const started = await post(address, team.apiKey, {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });
  const session = { "mcp-session-id": started.headers.get("mcp-session-id") ?? "" };
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"])
    expect(await post(address, team.apiKey, { jsonrpc: "2.0", id: 2, method, params: { taskId: "t" } }, session)).toMatchObject({
      status: 200,
      body: { error: { code: -32601 } },
    });
  expect(await post(address, team.apiKey, { jsonrpc: "2.0", id: 2, method: "tasks/get" }, session)).toMatchObject({
    status: 200,
    body: { error: { code: -32601 } },
  });
  expect(
    await post(address, team.apiKey, { jsonrpc: "2.0", id: 2, method: "ping" }, { ...session, "mcp-protocol-version": "2025-11-25" }),
  ).toMatchObject({ status: 200, body: { result: {} } });
  expect(
    await post(address, team.apiKey, { jsonrpc: "2.0", id: 2, method: "ping" }, { ...session, "mcp-protocol-version": "1999-01-01" }),
  ).toMatchObject({ status: 400, body: { id: 2, error: { code: -32600 } } });
  const listed = await post(address, team.apiKey, stateless(1, "tools/list"));
  expect(listed.body.result.tools).toHaveLength(3);
  expect(JSON.stringify(listed.body.result.tools)).not.toContain("taskSupport");
  await Promise.all(fixtures.map((fixture) => fixture.stop()));
});

test("a handshake client that keeps no session is served, except for what a session would have to remember", async () => {
  const ask = (method: string, params: Record<string, unknown> = {}) => post(url, team.apiKey, { jsonrpc: "2.0", id: 7, method, params });
  const listed = (await ask("tools/list")).body.result;
  expect(listed.tools.map(({ name }: any) => name)).toEqual(expect.arrayContaining(["old-tools__echo", "new__echo"]));
  expect(listed.resultType).toBeUndefined();
  for (const name of ["old-tools__echo", "new__echo"]) {
    const called = await ask("tools/call", { name, arguments: { text: "hi" } });
    expect([called.status, textOf(called.body.result).split(": ")[1], called.body.result.resultType]).toEqual([200, "hi", undefined]);
  }
  expect((await ask("ping")).body.result).toEqual({});
  expect((await post(url, team.apiKey, { jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
  expect((await ask("tools/call", { name: "new__ask", arguments: {} })).body.error.code).toBe(-32021);
  for (const method of ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
    expect(await ask(method, { level: "info", uri: "old-tools+note://1" })).toMatchObject({
      status: 400,
      body: { error: { data: { code: "session_required" } } },
    });
  expect((await ask("server/discover")).body.error.code).toBe(-32601);
});

test("the request state of one call is refused for another", async () => {
  const asked = await post(url, team.apiKey, stateless(1, "tools/call", { name: "new__ask", arguments: {} }));
  expect(asked.body.result.resultType).toBe("input_required");
  const answer = { inputResponses: { who: { action: "accept", content: { name: "Ada" } } }, requestState: asked.body.result.requestState };
  const carried = await post(url, team.apiKey, stateless(2, "tools/call", { name: "new__ask", arguments: { x: 1 }, ...answer }));
  expect([carried.status, carried.body.error.code]).toEqual([400, -32602]);
  expect(
    textOf((await post(url, team.apiKey, stateless(3, "tools/call", { name: "new__ask", arguments: {}, ...answer }))).body.result),
  ).toBe("hello Ada");
});

test("an unavailable member is named, and the others still work", async () => {
  const { admin } = world;
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "half",
    members: [
      { mcp_server_id: ids.modern, slug: "new" },
      { mcp_server_id: ids.dying, slug: "dying" },
    ],
    group_ids: [team.groupId],
  });
  const half = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  expect((await post(half, team.apiKey, stateless(1, "tools/list"))).body.result.tools).toHaveLength(8);
  await dying.stop();
  const listed = await post(half, team.apiKey, stateless(2, "tools/list"));
  expect([listed.status, listed.body.result.tools.length, listed.body.result._meta["dev.gatehouse/unavailable"]]).toEqual([
    200,
    4,
    ["dying"],
  ]);
  expect(listed.body.result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  const failed = await post(half, team.apiKey, stateless(3, "tools/call", { name: "dying__echo", arguments: { text: "x" } }));
  expect([failed.status, failed.body.error.data.code]).toEqual([502, "upstream_unreachable"]);
  const row = await rowOf(admin, { mcp_method: "tools/list", server_id: virtual.id, mcp_request_id: "2" });
  expect([row.tags, row.success]).toEqual([["member_unavailable"], true]);
});

test("invalid virtual servers are refused by field", async () => {
  const send = (body: object) =>
    world.admin.request("POST", "/v1/admin/virtual-servers", { tenant_id: "default", name: `v${Math.random()}`, ...body });
  const wrong = await Promise.all([
    send({ mcp_server_ids: ["mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV"] }),
    send({ members: [{ mcp_server_id: ids.old, slug: "a__b" }] }),
    send({
      members: [
        { mcp_server_id: ids.old, slug: "a" },
        { mcp_server_id: ids.modern, slug: "a" },
      ],
    }),
    send({ mcp_server_ids: [ids.old], members: [] }),
    send({ group_ids: [crypto.randomUUID()] }),
  ]);
  expect(wrong.map(({ status, body }) => [status, body.fields[0].field])).toEqual([
    [400, "mcp_server_ids"],
    [400, "members.0.slug"],
    [400, "members"],
    [400, "mcp_server_ids"],
    [400, "group_ids"],
  ]);
  const used = await world.admin.request("DELETE", `/v1/admin/mcp-servers/${ids.old}`);
  expect([used.status, used.body.code]).toEqual([409, "in_use"]);
});
