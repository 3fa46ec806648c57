import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Push notifications about tasks, sent to the address that the caller chose. */
interface ReceivedNotification {
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  readonly body: any;
}
let world: World;
let agent: AgentFixture;
let team: Team;
let base: string;
let agentId: string;
const notifications: ReceivedNotification[] = [];
let refusing = 0;
/** Paths that accept no notifications. */
const closed = new Set<string>();
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const text = await request.text();
    const path = new URL(request.url).pathname;
    notifications.push({ path, headers: request.headers, text, body: JSON.parse(text) });
    return new Response(null, { status: closed.has(path) || refusing-- > 0 ? 503 : 200 });
  },
});
const to = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;

beforeAll(async () => {
  [world, agent] = await Promise.all([startWorld(), startAgent()]);
  team = await newTeam(world.admin, "callers");
  agentId = (await registerAgent(world.admin, "fixture", agent.url)).id;
  await grantAgent(world.admin, agentId, [team.groupId]);
  base = `${world.gateway.runtimeUrl}/a2a/default/fixture`;
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
  await receiver.stop(true);
});

async function until<T>(found: () => T | undefined): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = found();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`it did not come: ${JSON.stringify(notifications.map(({ body }) => body)).slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
const stateOf = ({ body }: ReceivedNotification) => (body.task ?? body.statusUpdate)?.status.state;
const notificationsAt = (path: string) => notifications.filter((one) => one.path === path);
const begin = async () =>
  (await call(base, team.apiKey, "POST", "/message:send", { ...message("hold x"), configuration: { returnImmediately: true } })).body.task;

test("push notifications of a task without a connected caller are signed, sent once, and retried after a refusal", async () => {
  const task = await begin();
  const path = `/tasks/${task.id}/pushNotificationConfigs`;
  const made = await call(base, team.apiKey, "POST", path, {
    url: to("/one"),
    token: "the token",
    authentication: { scheme: "Bearer", credentials: "of the receiver" },
  });
  expect([made.status, made.body]).toMatchObject([201, { taskId: task.id, url: to("/one") }]);
  expect((await call(base, team.apiKey, "GET", path)).body.configs).toHaveLength(1);
  expect((await call(base, team.apiKey, "GET", `${path}/${made.body.id}`)).body).toEqual(made.body);
  await until(() => notificationsAt("/one").find((one) => stateOf(one) === "TASK_STATE_WORKING"));
  refusing = 1;
  agent.release();
  const done = await until(() => notificationsAt("/one").filter((one) => stateOf(one) === "TASK_STATE_COMPLETED")[0]);
  const { headers, text } = done;
  expect([headers.get("authorization"), headers.get("x-a2a-notification-token"), headers.get("content-type")]).toEqual([
    "Bearer of the receiver",
    "the token",
    "application/a2a+json",
  ]);
  const [head = "", , signature = ""] = (headers.get("x-gw-notification-signature") ?? "").split(".");
  const { keys }: any = await (await fetch(`${world.gateway.runtimeUrl}/.well-known/a2a-jwks/default`)).json();
  const protectedHeader = JSON.parse(Buffer.from(head, "base64url").toString());
  expect(protectedHeader).toMatchObject({ alg: "EdDSA", jti: headers.get("x-gw-notification-id") });
  const key = createPublicKey({ key: keys.find(({ kid }: any) => kid === protectedHeader.kid), format: "jwk" });
  expect(verify(null, Buffer.from(`${head}.${Buffer.from(text).toString("base64url")}`), key, Buffer.from(signature, "base64url"))).toBe(
    true,
  );
  // The refused notification was sent again with its ID, in its original order.
  const ids = notificationsAt("/one").map((one) => one.headers.get("x-gw-notification-id"));
  expect(ids.length).toBe(new Set(ids).size + 1);
  expect(notificationsAt("/one").filter((one) => stateOf(one) === "TASK_STATE_COMPLETED").length).toBeLessThanOrEqual(2);
});

test("a message may carry its push configuration, and a v0.3 caller is notified in v0.3", async () => {
  const answer = await call(base, team.apiKey, "POST", "/message:send", {
    ...message("complete x"),
    configuration: { taskPushNotificationConfig: { url: to("/inline") } },
  });
  expect(answer.body.task.status.state).toBe("TASK_STATE_COMPLETED");
  await until(() => notificationsAt("/inline").find((one) => one.body.task?.id === answer.body.task.id));
  const old = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/a2a/outbound?agent=fixture`, {
    method: "POST",
    headers: { "x-api-key": team.apiKey, "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "message/send",
      params: {
        message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "complete x" }] },
        configuration: { pushNotificationConfig: { url: to("/old"), authentication: { schemes: ["Basic"], credentials: "x" } } },
      },
    }),
  });
  expect(old.status).toBe(200);
  const heard = await until(() => notificationsAt("/old")[0]);
  expect(heard.body).toMatchObject({ kind: "task", status: { state: "completed" } });
});

test("a deleted push configuration receives nothing, and invalid addresses are refused", async () => {
  const task = await begin();
  const path = `/tasks/${task.id}/pushNotificationConfigs`;
  const { body } = await call(base, team.apiKey, "POST", path, { id: "mine", url: to("/gone") });
  expect(body.id).toBe("mine");
  expect((await call(base, team.apiKey, "DELETE", `${path}/mine`)).status).toBe(204);
  expect((await call(base, team.apiKey, "DELETE", `${path}/mine`)).status).toBe(204);
  expect((await call(base, team.apiKey, "GET", `${path}/mine`)).status).toBe(404);
  for (const url of ["ftp://example.com/x", "no address", "https://user:secret@example.com/"]) {
    const refused = await call(base, team.apiKey, "POST", path, { url });
    expect([url, refused.status]).toEqual([url, 400]);
  }
  agent.release();
});

test("an invalid push configuration is refused before the agent is called, and one in a message counts towards the limit", async () => {
  const task = await begin();
  const path = `/tasks/${task.id}/pushNotificationConfigs`;
  const asked = agent.requests.length;
  for (const config of [{ url: to("/nul\0") }, { url: to("/nul"), authentication: { scheme: "Bea\0rer" } }]) {
    const made = await call(base, team.apiKey, "POST", path, config);
    const sent = await call(base, team.apiKey, "POST", "/message:send", {
      ...message("hold x"),
      configuration: { taskPushNotificationConfig: config },
    });
    for (const { status, body } of [made, sent]) expect([status, body.error.details[0].reason]).toEqual([400, "INVALID_PARAMS"]);
  }
  expect(agent.requests.length).toBe(asked);
  for (let n = 0; n < 10; n++) expect((await call(base, team.apiKey, "POST", path, { id: `c${n}`, url: to("/many") })).status).toBe(201);
  const eleventh = await call(base, team.apiKey, "POST", "/message:send", {
    ...message("hold x", { taskId: task.id }),
    configuration: { returnImmediately: true, taskPushNotificationConfig: { id: "c10", url: to("/many") } },
  });
  expect([eleventh.status, eleventh.body.error.message]).toEqual([400, "A task has at most 10 push configurations."]);
});

test("the end of a task is notified even when its owner's own connection learns of it first", async () => {
  const asked = await call(base, team.apiKey, "POST", "/message:send", {
    ...message("ask"),
    configuration: { taskPushNotificationConfig: { url: to("/went-on") } },
  });
  await until(() => notificationsAt("/went-on").find((one) => stateOf(one) === "TASK_STATE_INPUT_REQUIRED"));
  await call(base, team.apiKey, "POST", "/message:send", message("complete this one", { taskId: asked.body.task.id }));
  await call(base, team.apiKey, "POST", "/message:stream", {
    ...message("complete that one"),
    configuration: { taskPushNotificationConfig: { url: to("/streamed") } },
  });
  for (const path of ["/went-on", "/streamed"])
    await until(() => notificationsAt(path).find((one) => stateOf(one) === "TASK_STATE_COMPLETED"));
});

test("notifications waiting for delivery lose their content once a guardrail is bound", async () => {
  const owner = await newTeam(world.admin, "guarded later");
  await grantAgent(world.admin, agentId, [owner.groupId]);
  const path = "/guarded-later";
  closed.add(path);
  await call(base, owner.apiKey, "POST", "/message:send", {
    ...message("ask"),
    configuration: { taskPushNotificationConfig: { url: to(path) } },
  });
  const first = await until(() => notificationsAt(path).find((one) => stateOf(one) === "TASK_STATE_INPUT_REQUIRED"));
  expect(first.text).toContain("Which one?");
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "what agents say later",
    group_ids: [owner.groupId],
    surfaces: { a2a_outbound: true },
    builtin: { banned_words: ["which one"] },
  });
  const before = notificationsAt(path).length;
  closed.delete(path);
  const again = await until(() => notificationsAt(path)[before]);
  expect([stateOf(again), again.headers.get("x-gw-notification-id")]).toEqual([
    "TASK_STATE_INPUT_REQUIRED",
    first.headers.get("x-gw-notification-id"),
  ]);
  expect(again.text).not.toContain("Which one?");
});

test.each(["guarded", "open"])("each status of a task is notified once, however often the agent reports it: %s", async (name) => {
  const owner = await newTeam(world.admin, name);
  await grantAgent(world.admin, agentId, [owner.groupId]);
  if (name === "guarded")
    await world.admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: "what agents say",
      group_ids: [owner.groupId],
      surfaces: { a2a_outbound: true },
      builtin: { banned_words: ["tangerine"] },
    });
  const path = `/${name}`;
  const { body } = await call(base, owner.apiKey, "POST", "/message:send", {
    ...message("ask", { contextId: `of ${name}` }),
    configuration: { taskPushNotificationConfig: { url: to(path) } },
  });
  const { id } = body.task;
  const looks = () => agent.requests.filter((one) => one.path.endsWith(`/${id}:subscribe`)).length;
  // By the second subscription, the updates of the first have been stored.
  await until(() => (looks() >= 2 ? true : undefined));
  const kept = await world.admin.get(`/v1/admin/agents/${agentId}/tasks/${id}`);
  expect(kept.task?.status.message.parts[0].text).toBe("Which one?");
  await call(base, owner.apiKey, "GET", `/tasks/${id}`);
  await call(base, owner.apiKey, "POST", "/message:send", message("complete x", { taskId: id }));
  await until(() => notificationsAt(path).find((one) => stateOf(one) === "TASK_STATE_COMPLETED"));
  expect(
    notificationsAt(path)
      .map(stateOf)
      .filter((state) => state !== "TASK_STATE_WORKING"),
  ).toEqual(["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]);
  expect(notificationsAt(path).some(({ text }) => text.includes("Which one?"))).toBe(name === "open");
});
