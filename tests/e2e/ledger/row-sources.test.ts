import { afterAll, beforeAll, expect, test } from "bun:test";
import { keptFilledFields } from "../../../scripts/filled-fields.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { filledFields } from "../../support/formats/filled-fields.ts";
import { type ScriptedToolServer, startScriptedToolServer, toolNamed } from "../../support/tool-servers/scripted-tool-server.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post } from "../tools/mcp-harness.ts";

let world: World;
let served: Awaited<ReturnType<typeof serveModels>>;
const servers: ScriptedToolServer[] = [];

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, [{ name: "ours", model_name: "fake-1" }, "fake-1"]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await world.end();
});

test("the row has the gateway's name of a model, and the provider's name if it differs", async () => {
  const rowFor = async (model: string) => {
    const reply = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": served.apiKey },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "x" }] }),
    });
    expect(reply.status).toBe(200);
    await reply.text();
    return rowOf(world.admin, { id: reply.headers.get("x-request-id") });
  };
  expect(await rowFor("ours")).toMatchObject({ llm_model_used: "ours", custom_metadata: { upstream_model: "fake-1" } });
  expect(await rowFor("fake-1")).toMatchObject({ llm_model_used: "fake-1", custom_metadata: null });
});

test("the row of an invalid request has the model that it names, and none if it names none", async () => {
  const { apiKey, models } = served;
  const named = async (path: string, body: unknown) => {
    const reply = await fetch(world.gateway.runtimeUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify(body),
    });
    expect(reply.status).toBe(400);
    const row = await rowOf(world.admin, { id: reply.headers.get("x-request-id") });
    expect([row.error_type, row.llm_model_used]).toEqual(["invalid_body", null]);
    return row.llm_model_requested;
  };
  const llm = "/v1/proxy/llm";
  expect(await named(`${llm}/chat/completions`, { model: "fake-1" })).toBe("fake-1");
  expect(await named(`${llm}/embeddings`, { model_id: models["fake-1"], model: "x" })).toBe(models["fake-1"]);
  expect(await named("/v1/messages", { model: "fake-1", messages: 5 })).toBe("fake-1");
  expect(await named("/v1beta/models/fake%2F1:generateContent", {})).toBe("fake/1");
  for (const body of [{ model: 5 }, { model: "m".repeat(256) }, { model: "a\0" }, { messages: [] }, []])
    expect(await named(`${llm}/chat/completions`, body)).toBeNull();
});

test.each(["handshake", "stateless"] as const)("the row of a call to a %s tool server has the server's own request ID", async (dialect) => {
  const server = startScriptedToolServer(dialect, (message) =>
    message?.method === "tools/list"
      ? Response.json(
          {
            jsonrpc: "2.0",
            id: message.id,
            result: { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [toolNamed("open")] },
          },
          { headers: { "x-request-id": "req_of_the_server" } },
        )
      : undefined,
  );
  servers.push(server);
  const team = await newTeam(world.admin, `asks ${dialect}`);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: dialect, base_url: server.baseUrl });
  await grant(world.admin, dialect, id, [team.groupId], {});
  const at = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const begun = await post(at, team.apiKey, {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const listed = await post(at, team.apiKey, { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }, session);
  expect(await rowOf(world.admin, { id: listed.headers.get("x-request-id") })).toMatchObject({ upstream_request_id: "req_of_the_server" });
});

test("the row of a tool call in a run names the model that requested it; a model's row has its cache write tokens", async () => {
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 100, cache_read_input_tokens: 20 };
  const claude = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      Response.json({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude",
        content: [{ type: "text", text: "hello" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage,
      }),
  });
  const tenant = { tenant_id: "default" };
  const provider = {
    provider_key: "claude",
    name: "claude",
    api_format: "anthropic",
    base_url: `http://127.0.0.1:${claude.port}`,
    api_key: "sk-x",
  };
  await world.admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const team = await newTeam(world.admin, "runs tools");
  const model = { name: "decider", model_name: "claude", mode: "chat", provider: "claude", enabled: true, group_ids: [team.groupId] };
  await world.admin.post("/v1/admin/llms", { ...tenant, ...model });
  const server = startScriptedToolServer("handshake", (message) => (message?.method === "tools/call" ? { content: [] } : undefined));
  servers.push(server);
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { ...tenant, name: "decided", base_url: server.baseUrl });
  await grant(world.admin, "decided", id, [team.groupId], {});
  const run = { "x-gw-run-id": "one task" };
  const asked = await fetch(`${world.gateway.runtimeUrl}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey, "anthropic-version": "2023-06-01", ...run },
    body: JSON.stringify({ model: "decider", max_tokens: 10, messages: [{ role: "user", content: "x" }] }),
  });
  expect(asked.status).toBe(200);
  await asked.text();
  expect(await rowOf(world.admin, { id: asked.headers.get("x-request-id") })).toMatchObject({
    prompt_cache_write_tokens: 100,
    prompt_cache_read_tokens: 20,
  });
  const at = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const begin = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const begun = await post(at, team.apiKey, { jsonrpc: "2.0", id: 0, method: "initialize", params: begin }, run);
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "open", arguments: {} } };
  const called = await post(at, team.apiKey, call, { ...session, ...run });
  expect(await rowOf(world.admin, { id: called.headers.get("x-request-id") })).toMatchObject({ deciding_model: "decider" });
  // No model decided on requests that the protocol itself requires.
  expect(await rowOf(world.admin, { id: begun.headers.get("x-request-id") })).toMatchObject({
    mcp_method: "initialize",
    deciding_model: null,
  });
  const listed = await post(at, team.apiKey, { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} }, { ...session, ...run });
  expect(await rowOf(world.admin, { id: listed.headers.get("x-request-id") })).toMatchObject({ deciding_model: null });
  await claude.stop(true);
});

test("the reference page of the audit row lists every field that these calls filled", async () => {
  const path = `${world.gateway.runtimeUrl}/v1/proxy/llm/models`;
  const stranger = await fetch(path, { headers: { "x-tenant-id": "default", traceparent: `00-${"a1".repeat(16)}-${"b2".repeat(8)}-01` } });
  await rowOf(world.admin, { id: stranger.headers.get("x-request-id") });
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const told = keptFilledFields();
  const untold = [...(await filledFields(db))].flatMap(([surface, fields]) =>
    [...fields].filter((name) => !told[name].includes(surface)).map((name) => `${name} in rows of ${surface}`),
  );
  await close();
  // CONTRIBUTING.md says how to update the list.
  expect(untold).toEqual([]);
});
