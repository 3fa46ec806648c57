import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Clients that use the protocol's original field names, which ProtoJSON parsers accept too. */
let world: World;
let team: Team;
let agent: AgentFixture;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
  agent = await startAgent();
  const { id } = await registerAgent(world.admin, "fixture", agent.url);
  await grantAgent(world.admin, id, [team.groupId]);
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

const messageParams = (text: string, more: Record<string, unknown> = {}) => ({
  message: { message_id: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text, media_type: "text/plain" }], ...more },
});

/** The JSON-RPC address in the agent's card. */
async function rpcAddress(): Promise<string> {
  const { body } = await call(world.gateway.runtimeUrl, "", "GET", "/.well-known/agent-card/default/fixture");
  const found = body.supportedInterfaces.find((one: any) => one.protocolBinding === "JSONRPC" && one.protocolVersion === "1.0");
  return found.url;
}

async function callRpc(method: string, params: Record<string, unknown>): Promise<any> {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  return (await call(world.gateway.runtimeUrl, team.apiKey, "POST", "/v1/proxy/a2a/outbound?agent=fixture", body)).body;
}

test("messages, history length, task lists and push configurations accept the protocol's original field names", async () => {
  const begun = (await callRpc("SendMessage", messageParams("ask"))).result.task;
  expect(begun.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  const next = (await callRpc("SendMessage", messageParams("complete it", { task_id: begun.id, context_id: begun.contextId }))).result.task;
  expect([next.id, next.status.state]).toEqual([begun.id, "TASK_STATE_COMPLETED"]);
  expect(agent.requests.at(-1)?.body.message.parts).toEqual([{ text: "complete it", mediaType: "text/plain" }]);

  expect((await callRpc("GetTask", { id: begun.id })).result.history.length).toBeGreaterThan(1);
  expect((await callRpc("GetTask", { id: begun.id, history_length: 0 })).result.history).toBeUndefined();
  await callRpc("SendMessage", messageParams("complete another"));
  const listed = (await callRpc("ListTasks", { context_id: begun.contextId, page_size: 5, include_artifacts: true })).result;
  expect([listed.totalSize, listed.pageSize, listed.tasks[0].id, listed.tasks[0].artifacts.length]).toEqual([1, 5, begun.id, 1]);

  const config = (await callRpc("CreateTaskPushNotificationConfig", { task_id: begun.id, url: "http://127.0.0.1:9/told" })).result;
  expect(config.taskId).toBe(begun.id);
  expect((await callRpc("ListTaskPushNotificationConfigs", { task_id: begun.id })).result.configs).toHaveLength(1);
});

test("return_immediately in the original spelling is honoured by the HTTP binding too", async () => {
  const { status, body } = await call(`${world.gateway.runtimeUrl}/a2a/default/fixture`, team.apiKey, "POST", "/message:send", {
    ...messageParams("hold x"),
    configuration: { return_immediately: true },
  });
  expect([status, body.task.status.state]).toEqual([200, expect.stringMatching(/SUBMITTED|WORKING/)]);
  agent.release();
});

test("a member given in both spellings is refused, and nothing is sent", async () => {
  const before = agent.requests.length;
  const { error } = await callRpc("SendMessage", messageParams("complete it", { task_id: "one", taskId: "two" }));
  expect([error.code, error.message]).toEqual([-32602, expect.stringContaining("message.taskId")]);
  expect((await callRpc("GetTask", { id: "x", history_length: 1, historyLength: 2 })).error.code).toBe(-32602);
  expect(agent.requests).toHaveLength(before);
});

test("the card's JSON-RPC address names the agent in its path, accepts a trailing slash and applies guardrails", async () => {
  const address = await rpcAddress();
  expect(address).toBe(`${world.gateway.runtimeUrl}/a2a/default/fixture`);
  const request = (text: string) => ({ jsonrpc: "2.0", id: "a", method: "SendMessage", params: messageParams(text) });
  for (const path of ["", "/"]) {
    const { status, body } = await call(address, team.apiKey, "POST", path, request("complete it"));
    expect([status, body.id, body.result.task.status.state]).toEqual([200, "a", "TASK_STATE_COMPLETED"]);
  }
  const stranger = await newTeam(world.admin, "strangers");
  expect((await call(address, stranger.apiKey, "POST", "/", request("complete it"))).body.error).toBeDefined();
  const nobody = await call(`${world.gateway.runtimeUrl}/a2a/default/nobody`, team.apiKey, "POST", "/", request("complete it"));
  expect(nobody.body.error.message).toBe("There is no such agent.");

  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "agents' wall",
    group_ids: [team.groupId],
    surfaces: { a2a_inbound: true },
    builtin: { banned_words: ["tangerine dream"] },
  });
  const before = agent.requests.length;
  const { body } = await call(address, team.apiKey, "POST", "/", request("complete tangerine dream"));
  expect([body.error.data[0].reason, agent.requests.length]).toEqual(["GUARDRAIL_BLOCKED", before]);
});

test("a body with a content type other than JSON is refused as unsupported, invalid JSON as a parse error", async () => {
  const send = async (type: string) =>
    (await call(await rpcAddress(), team.apiKey, "POST", "", "message=hello", { "content-type": type })).body.error.code;
  expect([await send("application/x-www-form-urlencoded"), await send("application/json")]).toEqual([-32005, -32700]);
});
