import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Tasks in progress when their caller loses access. */
let world: World;
let agent: AgentFixture;
let agentId: string;
let base: string;
const notifications: { readonly path: string; readonly body: any }[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    notifications.push({ path: new URL(request.url).pathname, body: await request.json() });
    return new Response(null);
  },
});

beforeAll(async () => {
  [world, agent] = await Promise.all([startWorld(), startAgent()]);
  agentId = (await registerAgent(world.admin, "fixture", agent.url)).id;
  base = `${world.gateway.runtimeUrl}/a2a/default/fixture`;
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
  await receiver.stop(true);
});

async function granted(name: string) {
  const team = await newTeam(world.admin, name);
  return { ...team, grantId: (await grantAgent(world.admin, agentId, [team.groupId])).id as string };
}

/** A stream that has begun, with the rest of it up to its end. */
async function opened(team: Team, path: string, body?: unknown) {
  const answer = await fetch(`${base}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": team.apiKey, "a2a-version": "1.0", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  // Events may arrive together in one chunk, or one event in several.
  while (!text.includes("\n\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended with ${text}`);
    text += new TextDecoder().decode(value);
  }
  const first = text.slice(0, text.indexOf("\n\n"));
  const rest = async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += new TextDecoder().decode(read.value);
    return text;
  };
  return { id: answer.headers.get("x-request-id"), first, rest, reader };
}

async function heldTask(team: Team, path: string) {
  const begun = await call(base, team.apiKey, "POST", "/message:send", {
    ...message("hold x"),
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url: `http://127.0.0.1:${receiver.port}${path}` } },
  });
  return begun.body.task.id as string;
}
const stateOf = (body: any) => (body.task ?? body.statusUpdate)?.status.state;
const untilTrue = (read: () => boolean) => until(async () => read(), Boolean);
const isNotified = (path: string, state: string) => notifications.some((one) => one.path === path && stateOf(one.body) === state);

test("the streams of a task end when its group loses the agent's grant; those of another group go on", async () => {
  const [loses, keeps] = [await granted("loses"), await granted("keeps")];
  const sent = await opened(loses, "/message:stream", message("hold x"));
  const id = JSON.parse(sent.first.slice(5)).task.id as string;
  const joined = await opened(loses, `/tasks/${id}:subscribe`);
  const other = await opened(keeps, "/message:stream", message("hold y"));
  expect((await world.admin.request("DELETE", `/v1/admin/agent-grants/${loses.grantId}`)).status).toBe(204);
  for (const stream of [sent, joined]) {
    expect(await stream.rest()).toContain("event: error");
    expect(await rowOf(world.admin, { id: stream.id })).toMatchObject({ success: false, error_type: "agent_not_allowed" });
  }
  agent.release();
  expect(await other.rest()).toContain("TASK_STATE_COMPLETED");
});

test("an open stream of an agent is redacted by guardrails bound after it began", async () => {
  const guarded = await granted("guarded");
  const stream = await opened(guarded, "/message:stream", message("hold Ask joe@example.com for it."));
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "no mail",
    group_ids: [guarded.groupId],
    surfaces: { a2a_outbound: true },
    builtin: { pii_enabled: true, pii_action: "redact" },
  });
  // Access is checked again periodically while a stream is open, and a caller who lost it is told so then.
  for (const name of ["first look", "second look"]) {
    const other = await granted(name);
    const ends = await opened(other, "/message:stream", message("hold x"));
    await world.admin.request("DELETE", `/v1/admin/agent-grants/${other.grantId}`);
    expect(await ends.rest()).toContain("event: error");
  }
  agent.release();
  const said = (await stream.rest()).split("\n\n").filter((frame) => frame.includes("artifactUpdate"));
  expect(said.join("")).toContain("Ask [REDACTED:email] for it.");
  expect(said.join("")).not.toContain("joe@example.com");
});

test("a revoked key or a group that lost the agent's grant gets no notifications of its tasks", async () => {
  const teams = { revoked: await granted("revoked"), ungranted: await granted("ungranted"), kept: await granted("kept") };
  for (const [name, team] of Object.entries(teams)) await heldTask(team, `/${name}`);
  for (const name of Object.keys(teams)) await untilTrue(() => isNotified(`/${name}`, "TASK_STATE_WORKING"));
  await world.admin.request("DELETE", `/v1/admin/api-keys/${teams.revoked.apiKeyId}`);
  await world.admin.request("DELETE", `/v1/admin/agent-grants/${teams.ungranted.grantId}`);
  agent.release();
  await untilTrue(() => isNotified("/kept", "TASK_STATE_COMPLETED"));
  // Notifications of later tasks are sent later, so the earlier ones would have arrived by then.
  await heldTask(teams.kept, "/later");
  await untilTrue(() => isNotified("/later", "TASK_STATE_WORKING"));
  agent.release();
  expect([isNotified("/revoked", "TASK_STATE_COMPLETED"), isNotified("/ungranted", "TASK_STATE_COMPLETED")]).toEqual([false, false]);
});
