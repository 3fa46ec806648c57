import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { removeDirectory, startGateway } from "../../support/gateway.ts";
import { startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";

let world: World;
let old: ToolServerFixture;
let modern: ToolServerFixture;
let ids: { old: string; modern: string };
let teams = 0;

beforeAll(async () => {
  world = await startWorld();
  old = startHandshakeServer();
  modern = startStatelessServer();
  const register = async (name: string, { baseUrl }: ToolServerFixture) =>
    (await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: baseUrl })).id as string;
  ids = { old: await register("old", old), modern: await register("modern", modern) };
});
afterAll(async () => {
  await Promise.all([old.stop(), modern.stop()]);
  await world.end();
});

const at = (id: string) => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;

async function set(path: string, body: object): Promise<void> {
  const { status, body: answer } = await world.admin.request("PATCH", `/v1/admin/resource-groups/${path}`, body);
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
}

/** A team in a group with these limits. */
async function limited(limits: object, ofServer: object = {}): Promise<Team> {
  const { admin } = world;
  const name = `limited ${teams++}`;
  const parent = await newTeam(admin, `${name} above`);
  const team = await newTeam(admin, name, { parent_group_id: parent.groupId });
  for (const id of Object.values(ids)) await grant(admin, `${name} ${id}`, id, [parent.groupId]);
  await set(`${parent.groupId}/mcp-global-limits`, { mcp_global_limits: limits });
  await set(`${parent.groupId}/mcp-servers/${ids.modern}/limits`, { limits: ofServer });
  return team;
}

const echo = (text = "hi") => stateless(1, "tools/call", { name: "echo", arguments: { text } });
const many = (rows: number, wait = 0) => stateless(1, "tools/call", { name: "many", arguments: { rows, wait_ms: wait } });

describe("limits on frequency", () => {
  test("count tool calls for the parent group, but not lists", async () => {
    const team = await limited({ frequency: { max_calls_per_minute: 1, burst_limit: 2, max_calls_per_day: 100 } });
    for (let i = 0; i < 4; i++) expect((await post(at(ids.modern), team.apiKey, stateless(1, "tools/list"))).status).toBe(200);
    const answers = [];
    for (const id of [ids.modern, ids.old, ids.modern]) answers.push(await post(at(id), team.apiKey, echo()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.body).toMatchObject({
      id: 1,
      error: { code: 4031, data: { code: "rate_limit_exceeded", scope: "group", limit_type: "calls_per_minute" } },
    });
    expect(Number(answers[2]?.headers.get("retry-after"))).toBeGreaterThan(0);
    const row = await rowOf(world.admin, { error_type: "rate_limit_exceeded", resource_group_id: team.groupId });
    expect([row.http_status_code, row.mcp_capability_name, row.server_id]).toEqual([429, "echo", ids.modern]);
    const made = await rowOf(world.admin, { id: answers[0]?.headers.get("x-request-id") });
    expect(made.tool_definition_hash).toMatch(/^[0-9a-f]{64}$/);
    expect([row.tool_definition_hash, row.server_version]).toEqual([made.tool_definition_hash, made.server_version]);
  });

  test("per day run out, and a server's own lower limit applies", async () => {
    const team = await limited({ frequency: { max_calls_per_day: 5 } }, { frequency: { max_calls_per_day: 2 } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(at(ids.modern), team.apiKey, echo())).status);
    const last = await post(at(ids.modern), team.apiKey, echo());
    expect([statuses, last.body.error.data.usage_limit.limit_type, last.body.error.data.usage_limit.max_limit]).toEqual([
      [200, 200, 429],
      "calls_per_day",
      2,
    ]);
    expect((await post(at(ids.old), team.apiKey, echo())).status).toBe(200);
  });
});

describe("limits on execution", () => {
  test("cap a caller's concurrent calls without delaying another caller", async () => {
    const team = await limited({ execution: { max_concurrency_per_user: 1 } });
    const other = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, { name: "other", access_mode: "shared" });
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = startScriptedToolServer("stateless", async (message) => {
      if (message?.method !== "tools/call") return undefined;
      asked.resolve();
      await answered.promise;
      return { resultType: "complete", content: [] };
    });
    const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "holding", base_url: holding.baseUrl });
    await grant(world.admin, "holding", id, [team.groupId]);
    const slow = post(at(id), team.apiKey, stateless(1, "tools/call", { name: "open", arguments: {} }));
    await asked.promise;
    const [second, others] = await Promise.all([post(at(ids.modern), team.apiKey, echo()), post(at(ids.modern), other.key_value, echo())]);
    answered.resolve();
    expect([second.status, second.body.error.data.limit_type, others.status, (await slow).status]).toEqual([
      429,
      "max_concurrent",
      200,
      200,
    ]);
    expect((await post(at(ids.modern), team.apiKey, echo())).status).toBe(200);
    await holding.stop();
  });

  test.each(["modern", "old"] as const)("end a call of a %s server that takes too long", async (name) => {
    const team = await limited({ execution: { timeout_seconds: 1 } });
    const answer = await post(at(ids[name]), team.apiKey, many(1, 20_000));
    expect([answer.status, answer.body.error.data.code]).toEqual([504, "upstream_timeout"]);
    expect((await rowOf(world.admin, { error_type: "upstream_timeout", resource_group_id: team.groupId })).duration_ms).toBeLessThan(
      10_000,
    );
  });
});

describe.each(["modern", "old"] as const)("limits on data of a %s server", (name) => {
  test("refuse a request and a result that are too large", async () => {
    const team = await limited({ data: { max_payload_size_mb: 0.001 } });
    const [small, large, answered] = await Promise.all([
      post(at(ids[name]), team.apiKey, many(1)),
      post(at(ids[name]), team.apiKey, echo("x".repeat(2000))),
      post(at(ids[name]), team.apiKey, many(500)),
    ]);
    expect([small.status, large.status, answered.status]).toEqual([200, 413, 502]);
    expect([large.body.error.data.code, answered.body.error.data.code, answered.text.includes('"result"')]).toEqual([
      "tool_payload_too_large",
      "tool_result_too_large",
      false,
    ]);
    expect((await rowOf(world.admin, { error_type: "tool_result_too_large", resource_group_id: team.groupId })).success).toBe(false);
  });

  test("refuse a result with too many rows", async () => {
    const team = await limited({ data: { max_rows_per_query: 3, max_items_per_response: 1 } });
    expect((await post(at(ids[name]), team.apiKey, many(3))).body.result).toBeDefined();
    expect((await post(at(ids[name]), team.apiKey, many(4))).body.error.data.code).toBe("tool_result_too_large");
  });
});

test.each(["handshake", "stateless"] as const)(
  "the result of a task of a %s server is held to the limits and guardrails of its tool",
  async (dialect) => {
    const content = [
      { type: "text", text: "Write to joe@example.com" },
      { type: "text", text: "or do not" },
    ];
    const task = { taskId: "t1", status: "completed", createdAt: "2026-11-21T00:00:00Z", lastUpdatedAt: "2026-11-21T00:00:00Z" };
    const answers: Record<string, object> = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {}, tasks: {} }, serverInfo: { name: "tasks", version: "1" } },
      "server/discover": {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
        ttlMs: 0,
        cacheScope: "private",
      },
      "tools/list": { tools: [{ name: "long", inputSchema: { type: "object" } }] },
      "tasks/result": { content },
      "tasks/get": { ...task, ttlMs: 1000, result: { content } },
    };
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        if (request.method !== "POST") return new Response(null, { status: 405 });
        const { id, method } = (await request.json()) as { id?: number; method: string };
        if (id === undefined) return new Response(null, { status: 202 });
        const known = method !== (dialect === "handshake" ? "server/discover" : "initialize") && answers[method] !== undefined;
        return known
          ? Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...answers[method] } })
          : Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }, { status: 404 });
      },
    });
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name: `tasks ${dialect}`,
      base_url: `http://127.0.0.1:${server.port}`,
    });
    const guarded = await newTeam(world.admin, `guarded tasks ${dialect}`);
    const bounded = await newTeam(world.admin, `bounded tasks ${dialect}`);
    await grant(world.admin, `tasks ${dialect}`, id, [guarded.groupId, bounded.groupId]);
    await world.admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: `no addresses ${dialect}`,
      group_ids: [guarded.groupId],
      surfaces: { mcp_output: true },
      builtin: { pii_enabled: true, pii_action: "block" },
    });
    await set(`${bounded.groupId}/mcp-global-limits`, { mcp_global_limits: { data: { max_items_per_response: 1 } } });
    const method = dialect === "handshake" ? "tasks/result" : "tasks/get";
    const message =
      dialect === "handshake" ? { jsonrpc: "2.0", id: 1, method, params: { taskId: "t1" } } : stateless(1, method, { taskId: "t1" });
    expect((await post(at(id), guarded.apiKey, message)).body.error.data.code).toBe("guardrail_blocked");
    expect((await post(at(id), bounded.apiKey, message)).body.error.data.code).toBe("tool_result_too_large");
    await server.stop(true);
  },
);

test("run ceilings apply to tool calls too", async () => {
  const team = await limited({});
  const run = { "x-gw-run-id": crypto.randomUUID() };
  const call = () => post(at(ids.modern), team.apiKey, echo(), run);
  // This ceiling only counts calls of models.
  await set(`${team.groupId}/run-ceilings`, { run_ceilings: { max_llm_calls_per_run: 1 } });
  for (let i = 0; i < 3; i++) expect((await call()).status).toBe(200);
  await set(`${team.groupId}/run-ceilings`, { run_ceilings: { max_duration_seconds_per_run: 1 } });
  const late = await until(call, ({ status }) => status !== 200);
  expect([late.status, late.body.error.data.code, late.headers.get("retry-after"), late.headers.get("x-gw-usage-utilization")]).toEqual([
    429,
    "run_ceiling_reached",
    // Waiting does not help a run that is over.
    null,
    "100",
  ]);
});

test("a tool call in flight ends when its run exceeds its duration, and is cancelled at the server", async () => {
  const left = Promise.withResolvers<void>();
  const server = startScriptedToolServer("stateless", (message, request) => {
    if (message?.method !== "tools/call") return undefined;
    request.signal.addEventListener("abort", () => left.resolve(), { once: true });
    return new Promise(() => undefined);
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "endless", base_url: server.baseUrl });
  const team = await newTeam(world.admin, "endless");
  await grant(world.admin, "endless", id, [team.groupId]);
  await set(`${team.groupId}/run-ceilings`, { run_ceilings: { max_duration_seconds_per_run: 1 } });
  const ended = await post(at(id), team.apiKey, echo(), { "x-gw-run-id": "endless" });
  expect([ended.status, ended.body.error.data.code]).toEqual([429, "run_ceiling_reached"]);
  await left.promise;
  expect(await rowOf(world.admin, { id: ended.headers.get("x-request-id") as string })).toMatchObject({
    error_type: "run_ceiling_reached",
  });
  await server.stop();
});

test("rows in the text of resources count too", async () => {
  const text = JSON.stringify([1, 2, 3, 4]);
  const server = startScriptedToolServer("stateless", (message) => {
    if (message?.method === "tools/call")
      return { resultType: "complete", content: [{ type: "resource", resource: { uri: "test://rows", text } }] };
    return message?.method === "resources/read"
      ? { resultType: "complete", contents: [{ uri: "test://rows", text }], ttlMs: 0, cacheScope: "private" }
      : undefined;
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "rows", base_url: server.baseUrl });
  const team = await newTeam(world.admin, "rows");
  await grant(world.admin, "rows", id, [team.groupId]);
  for (const [most, codes] of [
    [4, [undefined, undefined]],
    [3, ["tool_result_too_large", "tool_result_too_large"]],
  ] as const) {
    await set(`${team.groupId}/mcp-servers/${id}/limits`, { limits: { data: { max_rows_per_query: most } } });
    const answers = () =>
      Promise.all([
        post(at(id), team.apiKey, stateless(1, "tools/call", { name: "open" })),
        post(at(id), team.apiKey, stateless(2, "resources/read", { uri: "test://rows" })),
      ]);
    await until(answers, (given) => given.every(({ body }, index) => body.error?.data.code === codes[index]));
  }
  await server.stop();
});

test("a restart does not reset the daily limit on tool calls", async () => {
  const database = await testDatabase();
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "modern", base_url: modern.baseUrl });
  const { id: other } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "old", base_url: old.baseUrl });
  const parent = await newTeam(admin, "above");
  const team = await newTeam(admin, "below", { parent_group_id: parent.groupId });
  for (const server of [id, other]) await grant(admin, server, server, [parent.groupId]);
  for (const [path, body] of [
    ["mcp-global-limits", { mcp_global_limits: { frequency: { max_calls_per_day: 5 } } }],
    [`mcp-servers/${id}/limits`, { limits: { frequency: { max_calls_per_day: 3 } } }],
  ] as const)
    expect((await admin.request("PATCH", `/v1/admin/resource-groups/${parent.groupId}/${path}`, body)).status).toBe(200);
  const call = async (server: string) => (await post(`${gateway.runtimeUrl}/v1/proxy/mcp/${server}`, team.apiKey, echo())).status;
  expect([
    await call(id),
    await call(id),
    (await post(`${gateway.runtimeUrl}/v1/proxy/mcp/${id}`, team.apiKey, stateless(1, "tools/list"))).status,
  ]).toEqual([200, 200, 200]);
  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  // Two of three are used at the one server, then three of five in total.
  expect([await call(id), await call(id), await call(other), await call(other), await call(other)]).toEqual([200, 429, 200, 200, 429]);
  await gateway.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});
