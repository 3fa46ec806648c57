import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { call, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Costs that an agent reports for a task when nobody is waiting for it any more. */
let world: World;
let agent: AgentFixture;
let agentId: string;
let base: string;
const notifications: string[] = [];
const receiver = Bun.serve({
  ...{ hostname: "127.0.0.1", port: 0 },
  async fetch(request) {
    notifications.push(await request.text());
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

async function budgeted(name: string): Promise<Team> {
  const team = await newTeam(world.admin, name);
  await grantAgent(world.admin, agentId, [team.groupId]);
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 1, hard_stop: true } },
  });
  return team;
}

const begin = (team: Team, text: string, configuration: object) =>
  call(base, team.apiKey, "POST", "/message:send", { ...message(text), configuration: { returnImmediately: true, ...configuration } });

const costsOf = async (team: Team, atLeast = 1) =>
  (await rowsOf(world.admin, { proxy_subtype: "task_cost", resource_group_id: team.groupId }, atLeast)).map((row) => row);

/** Makes all tasks look untouched by their callers for two minutes. */
async function backdateTasks(): Promise<void> {
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  await database.query("UPDATE agent_tasks SET updated_at = now() - interval '2 minutes'");
  await database.end();
}

test.each([
  ["a receiver is notified of its end", { taskPushNotificationConfig: { url: `http://127.0.0.1:${receiver.port}/` } }],
  ["nobody reads it again", {}],
])("the cost of a task is recorded in one row and counted in the budget once when %s", async (name, configuration) => {
  const team = await budgeted(name);
  const begun = await begin(team, "spend 1.25", configuration);
  expect(begun.status).toBe(200);
  const { id } = begun.body.task;
  await backdateTasks();
  agent.release();
  const [row, ...more] = await costsOf(team);
  expect(more).toEqual([]);
  const first = await rowOf(world.admin, { id: begun.headers.get("x-request-id") });
  expect(row).toMatchObject({
    ...{ proxy_type: "a2a", llm_estimated_cost_usd: 1.25, server_id: agentId, success: true, tenant_id: "default" },
    ...{
      parent_request_id: first.id,
      root_task_id: first.root_task_id,
      api_key_id: first.api_key_id,
      gateway_user_id: first.gateway_user_id,
    },
    custom_metadata: { a2a_task_id: id },
  });
  const over = await begin(team, "spend 0.01", {});
  expect([over.status, over.body.error.status]).toEqual([429, "RESOURCE_EXHAUSTED"]);
  // A caller who asks now reads the same cost, which must not be counted again.
  const asked = await call(base, team.apiKey, "GET", `/tasks/${id}`);
  expect((await rowOf(world.admin, { id: asked.headers.get("x-request-id") })).llm_estimated_cost_usd ?? 0).toBe(0);
  expect((await costsOf(team)).length).toBe(1);
  const used = await until(
    async () => (await world.admin.get(`/v1/admin/resource-groups/${team.groupId}/consumption`)).limits,
    (all) => all.some((one: any) => one.limit_type === "daily_budget" && Math.abs(one.current - 1.25) < 1e-6),
  );
  expect(used.length).toBeGreaterThan(0);
});

test("the cost of a task is recorded after its API key was revoked, and no notification is sent", async () => {
  const team = await budgeted("whose key is gone");
  const taskPushNotificationConfig = { url: `http://127.0.0.1:${receiver.port}/` };
  const { id } = (await begin(team, "spend 0.75", { taskPushNotificationConfig })).body.task;
  expect((await world.admin.request("DELETE", `/v1/admin/api-keys/${team.apiKeyId}`)).status).toBe(200);
  await backdateTasks();
  agent.release();
  expect(await costsOf(team)).toMatchObject([{ llm_estimated_cost_usd: 0.75, custom_metadata: { a2a_task_id: id } }]);
  expect(notifications.filter((text) => text.includes(id) && text.includes("TASK_STATE_COMPLETED"))).toEqual([]);
});
