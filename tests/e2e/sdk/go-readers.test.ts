import { afterAll, beforeAll, expect, test } from "bun:test";
import { serveModels } from "../../support/worlds/admin.ts";
import { ambiguousBodies } from "../../support/formats/ambiguous-bodies.ts";
import { goRead, type GoStruct } from "../../support/formats/go-json.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** Servers that parse JSON as Go does never receive anything in which they would find content that was not inspected. */
let world: World;
let server: ToolServerFixture;
let old: ToolServerFixture;
let team: Team;
let urls: readonly string[];
let apiKey: string;

const tenant = { tenant_id: "default" };
const EVIL = "forbidden";
const MAX = 99_999;

beforeAll(async () => {
  world = await startWorld();
  const { admin, gateway, upstream } = world;
  const served = await serveModels(admin, upstream.baseUrl, ["fake-1"]);
  apiKey = served.apiKey;
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "wall",
    group_ids: [served.groupId],
    builtin: { banned_words: [EVIL] },
  });
  await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-global-governance`, {
    governance: { context_window: { max_output_tokens: 50, enforce: "clamp" }, tool_use: { blocked_tools: [EVIL] } },
  });
  server = startStatelessServer();
  old = startHandshakeServer();
  team = await newTeam(admin, "go");
  const at: string[] = [];
  for (const [name, fixture] of [
    ["new", server],
    ["old", old],
  ] as const) {
    const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: fixture.baseUrl });
    await grant(admin, name, id, [team.groupId], { disabled_tools: ["ask"] });
    at.push(`${gateway.runtimeUrl}/v1/proxy/mcp/${id}`);
  }
  urls = at;
  const policy = (name: string, given: object) =>
    admin.post("/v1/admin/argument-policies", { ...tenant, name, target: "echo", group_ids: [team.groupId], ...given });
  await policy("text", {
    argument_key: "text",
    analyzer: "values",
    rules: [{ deny_if: "not_in", values: ["fine"], message: "Only fine." }],
  });
  const deep = { type: "object", properties: { amount: { type: "number", maximum: 5 } } };
  await policy("shape", {
    analyzer: "json_schema",
    schema: { type: "object", properties: { order: deep } },
    rules: [{ deny_if: "invalid", message: "Too much." }],
  });
});
afterAll(async () => {
  await server.stop();
  await old.stop();
  await world.end();
});

const evil = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_name, one: unknown) => (typeof one === "number" ? MAX : typeof one === "string" ? EVIL : one)),
  ) as unknown;

test("the test's reader parses JSON as Go does", () => {
  const shape: GoStruct = { model: true, messages: [{ content: true }], params: { name: true, arguments: { text: true } } };
  expect(goRead('{"model":"a","Model":"b","me\u017f\u017fages":[{"content":"x"},{"CONTENT":"y"}]}', shape)).toEqual({
    model: "b",
    messages: [{ content: "x" }, { content: "y" }],
  });
  expect(goRead('{"params":{"name":"a"},"Params":{"arguments":{"\\u0054ext":"x"}}}', shape)).toEqual({
    params: { name: "a", arguments: { text: "x" } },
  });
  // Case folding is not normalization: Go treats a full-width letter as a different one.
  expect(goRead('{"\uff4dodel":"b"}', shape)).toEqual({});
});

const CHAT = {
  model: "fake-1",
  max_tokens: 5,
  messages: [
    { role: "user", name: "n", content: [{ type: "text", text: "hi" }] },
    { role: "assistant", content: "x", reasoning_content: "y" },
  ],
  tools: [{ type: "function", function: { name: "t", description: "d" } }],
};
const CHAT_READ: GoStruct = {
  model: true,
  max_tokens: true,
  messages: [{ role: true, name: true, content: [{ type: true, text: true }], reasoning_content: true }],
  tools: [{ type: true, function: { name: true, description: true } }],
};

test("a field name in another spelling gets nothing past governance to a model, at any depth", async () => {
  const url = `${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`;
  for (const { at, text } of ambiguousBodies(CHAT, evil)) {
    const before = world.upstream.seen.length;
    const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json", "x-api-key": apiKey }, body: text });
    const body = (await reply.json()) as any;
    expect([at, reply.status, body.error?.code ?? body.code]).toEqual([at, 400, "ambiguous_name"]);
    expect(world.upstream.seen.length).toBe(before);
  }
  const reply = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey },
    body: JSON.stringify(CHAT),
  });
  expect(reply.status).toBe(200);
  expect(goRead(world.upstream.seen.at(-1)?.body ?? "", CHAT_READ)).toMatchObject({ model: "fake-1", max_tokens: 5 });
});

const CALL = { name: "echo", arguments: { text: "fine", order: { amount: 5 } } };
const CALL_READ: GoStruct = { method: true, params: { name: true, arguments: { text: true, order: { amount: true } } } };

test("a field name in another spelling gets nothing past policies to a tool server", async () => {
  for (const url of urls)
    for (const { at, text } of ambiguousBodies(stateless(1, "tools/call", CALL), evil)) {
      // `_meta` concerns only the two endpoints.
      if (at.includes("_meta.")) continue;
      const before = [server.seen.length, old.seen.length] as const;
      const reply = await post(url, team.apiKey, text);
      const reached = [...server.seen.slice(before[0]), ...old.seen.slice(before[1])].map(({ body }) => goRead(body, CALL_READ));
      expect([at, reply.status === 400 || reply.status === 403 || (reply.status === 200 && reply.body.error !== undefined)]).toEqual([
        at,
        true,
      ]);
      expect([at, reached.filter(({ method }) => method === "tools/call" || method === EVIL)]).toEqual([at, []]);
    }
  const calls = () =>
    [...server.seen, ...old.seen].map(({ body }) => goRead(body, CALL_READ)).filter(({ method }) => method === "tools/call");
  for (const url of urls) expect((await post(url, team.apiKey, stateless(1, "tools/call", CALL))).status).toBe(200);
  expect(calls().map(({ params }) => [params.name, params.arguments])).toEqual([
    ["echo", CALL.arguments],
    ["echo", CALL.arguments],
  ]);
});
