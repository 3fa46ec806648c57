import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { startScriptedToolServer } from "../../support/tool-servers/scripted-tool-server.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team, textOf } from "../tools/mcp-harness.ts";

/** Guardrails on what is sent to tool servers. */
let world: World;
let server: ToolServerFixture;
let old: ToolServerFixture;
let url: string;
let urls: { readonly new: string; readonly old: string; readonly virtual: string };
let team: Team;

beforeAll(async () => {
  world = await startWorld();
  server = startStatelessServer();
  old = startHandshakeServer();
  team = await newTeam(world.admin, "guarded");
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: server.baseUrl });
  await grant(world.admin, "tools for guarded", id, [team.groupId], {});
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "tool wall",
    group_ids: [team.groupId],
    surfaces: { mcp_input: true },
    builtin: { pii_enabled: true, secrets_enabled: true },
  });
  const { id: oldId } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "old tools", base_url: old.baseUrl });
  await grant(world.admin, "old tools for guarded", oldId, [team.groupId], {});
  const virtual = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "all tools",
    members: [{ mcp_server_id: oldId, slug: "old" }],
    group_ids: [team.groupId],
  });
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  urls = {
    new: url,
    old: `${world.gateway.runtimeUrl}/v1/proxy/mcp/${oldId}`,
    virtual: `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`,
  };
});
afterAll(async () => {
  await server.stop();
  await old.stop();
  await world.end();
});

const call = (text: string) => post(url, team.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text } }));

test("arguments are redacted before the tool server receives them, and in the audit row", async () => {
  const answer = await call("Mail joe@example.com");
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).toContain("Mail [REDACTED:email]");
  expect(server.seen.map(({ body }) => body).join("")).not.toContain("joe@example.com");
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({ guardrail_action: "redact", guardrail_check: "pii", pii_detected: true, success: true });
  expect(JSON.stringify(row)).not.toContain("joe@example.com");
});

test("a secret in arguments is blocked before it reaches the tool server", async () => {
  const before = server.seen.length;
  const answer = await call("ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q");
  expect(answer.body.error).toMatchObject({
    code: 4031,
    data: { code: "guardrail_blocked", guardrail: "tool wall", check: "secrets", direction: "input" },
  });
  expect(server.seen.length).toBe(before);
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({ guardrail_blocked: true, guardrail_check: "secrets", success: false, error_type: "guardrail_blocked" });
  expect(JSON.stringify(row)).not.toContain("ghp_");
});

const SECRET = "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q";

test.each([
  ["the params of a vendor method", "x-vendor/note", { text: SECRET }],
  ["a member beside a resource URI", "resources/read", { uri: "test://note", note: SECRET }],
  ["a member of a list request", "tools/list", { note: SECRET }],
  ["a member of a ping", "ping", { uri: SECRET }],
  ["a member name beside arguments", "tools/call", { name: "echo", arguments: {}, [SECRET]: 1 }],
  [
    "a member of a completion argument",
    "completion/complete",
    { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "b", note: SECRET } },
  ],
  ["a member of a completion reference", "completion/complete", { ref: { type: "ref/prompt", name: "p", note: SECRET } }],
  ["a member of a completion context", "completion/complete", { ref: { type: "ref/prompt", name: "p" }, context: { note: SECRET } }],
  ["a member of a subscription filter", "subscriptions/listen", { notifications: { note: SECRET } }],
  ["a resource URI", "resources/read", { uri: `notes://of/${SECRET}` }],
  ["a percent-encoded resource URI", "resources/read", { uri: `notes://of/%67${SECRET.slice(1)}` }],
  ["the URI of a resource subscription", "subscriptions/listen", { notifications: { resourceSubscriptions: [`notes://${SECRET}`] } }],
  ["the name of a tool", "tools/call", { name: SECRET, arguments: {} }],
  ["the name of a prompt", "prompts/get", { name: SECRET }],
  [
    "the URI of a completion reference",
    "completion/complete",
    { ref: { type: "ref/resource", uri: SECRET }, argument: { name: "a", value: "b" } },
  ],
  ["a cursor with words", "prompts/list", { cursor: `the key ${SECRET}` }],
  ["a cursor that is not a string", "prompts/list", { cursor: [{ of: SECRET }] }],
  ["a method name", `x-vendor/${SECRET}`, {}],
] as const)("a secret reaches no tool server in %s", async (_where, method, params) => {
  const before = server.seen.length;
  const answer = await post(url, team.apiKey, stateless(1, method, params));
  expect(answer.body.error).toMatchObject({ data: { code: "guardrail_blocked", check: "secrets", direction: "input" } });
  expect(
    server.seen
      .slice(before)
      .map(({ body }) => body)
      .join(""),
  ).not.toContain("ghp_");
});

const META = stateless(1, "ping").params._meta;

test.each([
  ["the client's info", { params: { _meta: { ...META, "io.modelcontextprotocol/clientInfo": { name: SECRET, version: "1" } } } }],
  [
    "the client's capabilities",
    { params: { _meta: { ...META, "io.modelcontextprotocol/clientCapabilities": { experimental: { a: SECRET } } } } },
  ],
  ["a request's metadata", { params: { _meta: { ...META, "vendor/note": SECRET } } }],
  ["a member beside the params", { note: SECRET }],
] as const)("a secret reaches no tool server in %s", async (_where, members) => {
  const before = server.seen.length;
  const answer = await post(url, team.apiKey, { ...stateless(1, "tools/list"), ...members });
  expect(answer.body.error).toMatchObject({ data: { code: "guardrail_blocked", check: "secrets", direction: "input" } });
  expect(server.seen.length).toBe(before);
});

test("a secret reaches no tool server in a path or query below its address", async () => {
  const before = server.seen.length;
  for (const path of [`/files/${SECRET}`, `/search?q=%67${SECRET.slice(1)}`]) {
    const answer = await fetch(url + path, { headers: { "x-api-key": team.apiKey } });
    expect([answer.status, (await answer.json()).error.data.code]).toEqual([403, "guardrail_blocked"]);
  }
  expect(server.seen.length).toBe(before);
});

test("a cancellation is forwarded without a blocked reason; a blocked progress notification is refused", async () => {
  const heard: string[] = [];
  const cancelling = startScriptedToolServer("handshake", (message) => {
    if (message?.method === "notifications/cancelled") heard.push(JSON.stringify(message.params));
    return undefined;
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "cancels", base_url: cancelling.baseUrl });
  await grant(world.admin, "cancels for guarded", id, [team.groupId], {});
  const at = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const cancel = (reason: string) =>
    post(at, team.apiKey, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, reason } });
  expect((await cancel("joe@example.com asked")).status).toBe(202);
  const withheld = await cancel(SECRET);
  expect(withheld.status).toBe(202);
  expect(heard).toEqual(['{"requestId":7,"reason":"[REDACTED:email] asked"}', '{"requestId":7}']);
  const row = await rowOf(world.admin, { id: withheld.headers.get("x-request-id") });
  expect(row).toMatchObject({ guardrail_action: "block", success: true, tags: ["reason_withheld"] });
  const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1, message: SECRET } };
  expect((await post(at, team.apiKey, progress)).status).toBe(403);
  await cancelling.stop();
});

/** The blocked rows, newest first. */
const blocked = (atLeast: number) => rowsOf(world.admin, { guardrail_blocked: true }, atLeast);

describe.each([
  ["a handshake client", handshakeClient],
  ["a stateless client", statelessClient],
] as const)("input that %s returns to a tool server", (_client, connect) => {
  const answered = async (at: string, name: string) => {
    const client = await connect(at, team.apiKey, {}, name);
    try {
      return await client
        .callTool({ name: at.includes("/vmcp/") ? "old__ask" : "ask", arguments: {} })
        .then(textOf, (error: Error) => error.message);
    } finally {
      await client.close();
    }
  };

  test.each(["new", "old", "virtual"] as const)("is redacted like arguments (%s server)", async (which) => {
    expect(await answered(urls[which], "joe@example.com")).toBe("hello [REDACTED:email]");
  });

  test.each(["new", "old", "virtual"] as const)("is withheld when blocked, and nobody waits for it (%s server)", async (which) => {
    const before = (await blocked(0)).length;
    const said = await answered(urls[which], SECRET);
    expect(said).toContain(connect === handshakeClient ? "withheld" : "blocked by a guardrail (secrets)");
    expect([...server.seen, ...old.seen].map(({ body }) => body).join("")).not.toContain("ghp_");
    const rows = await blocked(before + 1);
    expect(rows).toHaveLength(before + 1);
    expect(rows[0]).toMatchObject(
      connect === handshakeClient
        ? { guardrail_action: "block", http_status_code: 202, success: true, tags: ["answer_withheld"] }
        : { guardrail_action: "block", http_status_code: 403, error_type: "guardrail_blocked" },
    );
    expect(JSON.stringify(rows)).not.toContain("ghp_");
  });
});

test("sampling results and other input responses are redacted in all their members", async () => {
  const blocks = [
    { type: "text", text: "joe@example.com" },
    { type: "image", data: "am9lQGV4YW1wbGUuY29t", mimeType: "image/png" },
    { type: "tool_use", id: "1", name: "mail", input: { to: "ann@example.com" } },
    { type: "tool_result", toolUseId: "2", content: [{ type: "text", text: "eve@example.com" }] },
  ];
  await post(
    url,
    team.apiKey,
    stateless(9, "tools/call", {
      name: "ask",
      arguments: {},
      requestState: "asked-once",
      inputResponses: {
        who: { role: "assistant", model: "m", content: blocks },
        one: { role: "assistant", model: "m", content: { type: "text", text: "bob@example.com" } },
        odd: { content: { "amy@example.com": { deep: ["tom@example.com"] } }, more: "kim@example.com" },
        roots: { roots: [{ uri: "file:///home/amy@example.com" }] },
      },
    }),
  );
  const { inputResponses } = JSON.parse(server.seen.at(-1)?.body ?? "{}").params;
  const redacted = "[REDACTED:email]";
  expect(inputResponses.who.content).toEqual([
    { type: "text", text: redacted },
    blocks[1],
    { type: "tool_use", id: "1", name: "mail", input: { to: redacted } },
    { type: "tool_result", toolUseId: "2", content: [{ type: "text", text: redacted }] },
  ]);
  expect(inputResponses.one.content.text).toBe(redacted);
  // A server may read even input responses that do not follow the protocol.
  expect(inputResponses.odd).toEqual({ content: { [redacted]: { deep: [redacted] } }, more: redacted });
  expect(inputResponses.roots.roots).toEqual([{ uri: `file:///home/${redacted}` }]);
});

test("Mcp-Param headers are redacted in agreement with the arguments, whether or not the tool is known yet", async () => {
  const heard: { readonly arguments: object; readonly to: string | null; readonly note: string | null }[] = [];
  const schema = { type: "object", properties: { to: { type: "string", "x-mcp-header": "To" } } };
  const mirroring = startScriptedToolServer("stateless", (message, { headers }) => {
    if (message?.method === "tools/list")
      return { resultType: "complete", tools: [{ name: "mail", inputSchema: schema }], ttlMs: 0, cacheScope: "private" };
    if (message?.method !== "tools/call") return undefined;
    heard.push({ arguments: message.params.arguments, to: headers.get("mcp-param-to"), note: headers.get("mcp-param-note") });
    return { resultType: "complete", content: [] };
  });
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "mails", base_url: mirroring.baseUrl });
  await grant(world.admin, "mails for guarded", id, [team.groupId], {});
  const mails = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const mail = (headers: Record<string, string>) =>
    post(mails, team.apiKey, stateless(1, "tools/call", { name: "mail", arguments: { to: "joe@example.com" } }), headers);
  const redacted = { arguments: { to: "[REDACTED:email]" }, to: "[REDACTED:email]", note: null };

  expect((await mail({ "Mcp-Param-To": "joe@example.com" })).status).toBe(200);
  expect(heard).toEqual([redacted]);
  expect((await post(mails, team.apiKey, stateless(2, "tools/list"))).status).toBe(200);
  expect((await mail({ "Mcp-Param-To": "joe@example.com" })).status).toBe(200);
  expect((await mail({ "Mcp-Param-To": `=?base64?${btoa("joe@example.com")}?=` })).status).toBe(200);
  expect(heard.slice(1)).toEqual([redacted, redacted]);
  const other = await mail({ "Mcp-Param-To": "eve@example.com" });
  expect([other.status, other.body.error.code]).toEqual([400, -32020]);

  // A mirroring header without an argument is forwarded too, so it is inspected by itself.
  expect((await mail({ "Mcp-Param-Note": "hello" })).status).toBe(200);
  expect(heard.at(-1)).toEqual({ ...redacted, note: "hello" });
  const secret = await mail({ "Mcp-Param-Note": `=?base64?${btoa("ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q")}?=` });
  expect([secret.status, secret.body.error.data.code]).toEqual([403, "guardrail_blocked"]);
  expect(heard).toHaveLength(4);
  // No row keeps what was redacted from the body either.
  await rowsOf(world.admin, { server_id: id, guardrail_blocked: true }, 1);
  expect(JSON.stringify(await rowsOf(world.admin, { server_id: id }, 6))).not.toMatch(/joe@|ghp_|Z2hwX|am9lQ/);
  await mirroring.stop();
});
