import { fileURLToPath } from "node:url";
import { createServer, type Server } from "node:tls";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { RealtimeClient } from "../../support/vendors/realtime-client.ts";
import { realtimeVendor, type RealtimeVendor, type Reply } from "../../support/vendors/realtime-vendor.ts";
import { selfSigned } from "../../support/processes/tls-upstream.ts";
import { type AdminClient, rowOf, rowsOf, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";

/** How sessions begin and end: limits, revoked keys, cancelled responses, lost connections, a stopping and a killed gateway, official clients. */
let database: TestDatabase;
let gateway: GatewayProcess;
let dataDir: string;
let admin: AdminClient;
let vendor: RealtimeVendor;
let tls: Server;
let modelId: string;
let reply: (request: any) => Reply = () => ({ text: "Hello there." });

const tenant = { tenant_id: "default" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const start = () => startGateway({ databaseUrl: database.url, dataDir, env: { GW_AUDIT_SHIP_WAIT_MS: "10", GW_PROCESSES: "2" } });

beforeAll(async () => {
  vendor = realtimeVendor((request) => reply(request));
  [database, dataDir] = await Promise.all([testDatabase(), temporaryDirectory()]);
  gateway = await start();
  admin = await signIn(gateway.adminUrl);
  const provider = { provider_key: "o", api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: "vendor-secret-0001" };
  await admin.post("/v1/admin/providers", { ...tenant, ...provider });
  const priced = { input_cost_per_million_tokens: 4, output_cost_per_million_tokens: 16 };
  const model = { name: "voice", model_name: "gpt-realtime", provider: "o", mode: "realtime" };
  ({ id: modelId } = await admin.post("/v1/admin/llms", { ...tenant, ...model, ...priced }));
  tls = createServer(selfSigned(dataDir, "localhost"), (socket) => {
    const inner = connect(Number(new URL(gateway.runtimeUrl).port), "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const one of [socket, inner]) one.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  tls.close();
  await gateway.stop();
  await vendor.stop();
  await database.close();
  await removeDirectory(dataDir);
});

async function team(name: string): Promise<{ groupId: string; key: string; keyId: string }> {
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
  await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: [modelId] });
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "k", access_mode: "shared" });
  return { groupId: group.id, key: key.key_value, keyId: key.id };
}

async function session(key: string): Promise<RealtimeClient> {
  const client = new RealtimeClient(gateway.runtimeUrl, "voice", bearer(key));
  await client.next("session.created");
  return client;
}

test("OpenAI's JavaScript client talks to a model through the gateway", async () => {
  reply = () => ({ text: "Hello from the model." });
  const { key } = await team("javascript");
  const client = new OpenAI({ apiKey: key, baseURL: `https://localhost:${(tls.address() as AddressInfo).port}/v1/proxy/llm` });
  const realtime = new OpenAIRealtimeWS({ model: "voice", options: { rejectUnauthorized: false } }, client);
  const said = Promise.withResolvers<string>();
  let text = "";
  realtime.on("error", said.reject);
  realtime.on("session.created", () => {
    realtime.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
    realtime.send({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    });
    realtime.send({ type: "response.create" });
  });
  realtime.on("response.output_text.delta", ({ delta }) => (text += delta));
  realtime.on("response.done", () => said.resolve(text));
  expect(await said.promise).toBe("Hello from the model.");
  realtime.close();
});

const PYTHON = process.env.REALTIME_PYTHON;
if (PYTHON === undefined)
  console.log(
    "The Python client for sessions is left out: REALTIME_PYTHON names no Python that has it (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/realtime/realtime-python.txt).",
  );
else
  test("OpenAI's Python client does", async () => {
    reply = () => ({ audio: "Spoken words." });
    const { key } = await team("python");
    const script = fileURLToPath(new URL("./realtime-python.py", import.meta.url));
    const run = Bun.spawn([PYTHON, script, `${gateway.runtimeUrl}/v1/proxy/llm`, key], { stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    if ((await run.exited) !== 0) throw new Error(err);
    expect(JSON.parse(out)).toEqual({ transcript: "Spoken words.", audio: 3, status: "completed" });
  });

test("each response counts against the limits, and a session outlives a refusal", async () => {
  reply = () => ({ text: "Yes." });
  const { key, groupId } = await team("limited");
  // One to open the session, one response.
  const limits = { llm_global_limits: { requests: { daily_limit: 2 } } };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const client = await session(key);
  expect((await client.ask("One")).at(-1).type).toBe("response.done");
  const [refused] = (await client.ask("Two")).filter(({ type }) => type === "error");
  expect(refused.error).toMatchObject({ code: "usage_limit_reached", event_id: "ask" });
  const more = { llm_global_limits: { requests: { daily_limit: 5 } } };
  await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, more);
  const asked = vendor.seen.length;
  expect((await client.ask(null)).at(-1).type).toBe("response.done");
  // The item that waited is sent with the response that is allowed again.
  expect(JSON.stringify(vendor.seen.slice(asked))).toContain("Two");
  client.close();
});

test("a revoked key ends the session at its next response", async () => {
  const { key, keyId } = await team("revoked");
  const client = await session(key);
  expect((await admin.request("DELETE", `/v1/admin/api-keys/${keyId}`)).status).toBeLessThan(300);
  await until(async () => (await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: bearer(key) })).status === 401);
  client.say("Still?");
  client.send({ type: "response.create" });
  expect((await client.untilClosed()).code).toBe(1008);
  expect((await client.next("error")).error.code).toBe("unauthenticated");
});

test("a response can be cancelled, and ends with a client that leaves", async () => {
  reply = () => ({ text: "On and on", endless: true });
  const { key } = await team("cancels");
  const client = await session(key);
  client.say("Talk");
  client.send({ type: "response.create" });
  await client.next("response.output_text.delta");
  client.send({ type: "response.create", event_id: "second" });
  expect((await client.next("error")).error).toMatchObject({ code: "conversation_already_has_active_response", event_id: "second" });
  client.send({ type: "response.cancel" });
  expect((await client.next("response.done")).response.status).toBe("cancelled");
  const from = client.events.length;
  client.send({ type: "response.create" });
  await client.next("response.output_text.delta", from);
  const open = vendor.connections();
  client.close();
  await until(() => vendor.connections() < open);
  expect(await rowOf(admin, { error_type: "client_disconnected", proxy_subtype: "realtime_response" })).toMatchObject({ success: false });
});

test("an error of the provider is told with the client's event ID, and a lost connection with an event and code 1011", async () => {
  reply = () => ({ text: "On", endless: true });
  const { key } = await team("lost");
  const client = await session(key);
  const events = await client.ask("Hi", { instructions: "fail" });
  expect(events.at(-1).error).toMatchObject({ message: "the response cannot be made", event_id: "ask" });
  const from = client.events.length;
  client.send({ type: "response.create" });
  await client.next("response.output_text.delta", from);
  vendor.cut();
  expect((await client.untilClosed()).code).toBe(1011);
  expect((await client.next("error", from)).type).toBe("error");
  expect(await rowOf(admin, { error_type: "upstream_interrupted", proxy_subtype: "realtime_response" })).toMatchObject({ success: false });
});

test("events that no response belongs to are not passed on", async () => {
  reply = () => ({ text: "Yes." });
  const { key } = await team("unasked");
  const client = await session(key);
  vendor.push({ type: "response.created", response: { id: "resp_unasked", status: "in_progress" } });
  vendor.push({ type: "response.output_text.delta", response_id: "resp_unasked", delta: "unasked words" });
  vendor.push({
    type: "conversation.item.added",
    item: { id: "item_x", type: "message", role: "assistant", content: [{ type: "text", text: "unasked words" }] },
  });
  vendor.push({ type: "brand.new", text: "unasked words" });
  await until(() => vendor.seen.some(({ type, response_id }) => type === "response.cancel" && response_id === "resp_unasked"));
  expect((await client.ask("Hi")).at(-1).type).toBe("response.done");
  expect(JSON.stringify(client.events)).not.toContain("unasked words");
  client.close();
});

test("a credential that the provider repeats in an event is redacted", async () => {
  reply = () => ({ text: "The key is vendor-secret-0001, I think." });
  const { key } = await team("quoted");
  const client = await session(key);
  vendor.push({ type: "error", error: { type: "server_error", code: "x", message: "Bearer vendor-secret-0001 is bad" } });
  expect((await client.next("error")).error.message).toBe("Bearer ****************** is bad");
  const events = await client.ask("Which?");
  expect(events.find(({ type }) => type === "response.output_text.done").text).toBe("The key is ******************, I think.");
  expect(JSON.stringify(client.events)).not.toContain("vendor-secret-0001");
  client.close();
});

test("a killed gateway leaves one row for a response that was under way, and a stopping one says so with code 1001", async () => {
  reply = () => ({ text: "On", endless: true });
  const { key, groupId } = await team("killed");
  const client = await session(key);
  client.say("Talk");
  client.send({ type: "response.create" });
  await client.next("response.output_text.delta");
  await gateway.kill();
  await client.untilClosed();
  gateway = await start();
  admin = await signIn(gateway.adminUrl);
  const rows = await rowsOf(admin, { resource_group_id: groupId, error_type: "gateway_interrupted" }, 1);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ proxy_subtype: "realtime_response", llm_model_used: "voice", success: false });

  const [idle, busy] = [await session(key), await session(key)];
  busy.say("Talk");
  busy.send({ type: "response.create" });
  await busy.next("response.output_text.delta");
  const stopped = gateway.stop();
  expect((await idle.untilClosed()).code).toBe(1001);
  busy.send({ type: "response.cancel" });
  expect((await busy.untilClosed()).code).toBe(1001);
  expect((await busy.next("response.done")).response.status).toBe("cancelled");
  expect(await stopped).toBe(0);
  gateway = await start();
  admin = await signIn(gateway.adminUrl);
});
