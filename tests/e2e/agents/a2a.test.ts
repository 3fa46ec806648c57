import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../../support/tool-servers/agents.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grantAgent, message, registerAgent, call } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Agents through the gateway, with the official SDK on both ends. */
let world: World;
let agent: AgentFixture;
let team: Team;
let base: string;
let agentId: string;
let grantId: string;

beforeAll(async () => {
  [world, agent] = await Promise.all([startWorld(), startAgent()]);
  team = await newTeam(world.admin, "callers");
  agentId = (await registerAgent(world.admin, "fixture", agent.url)).id;
  grantId = (await grantAgent(world.admin, agentId, [team.groupId])).id;
  base = `${world.gateway.runtimeUrl}/a2a/default/fixture`;
});
afterAll(async () => {
  await world?.end();
  await agent?.stop();
});

test("a message returns its task and leaves one audit row with the agent, the grant and the decision", async () => {
  const answer = await call(base, team.apiKey, "POST", "/message:send", message("complete hello there"));
  expect([answer.status, answer.text]).toMatchObject([200, expect.stringContaining("hello there")]);
  expect(answer.body.task).toMatchObject({
    status: { state: "TASK_STATE_COMPLETED" },
    artifacts: [{ artifactId: "said", parts: [{ text: "hello there" }] }],
  });
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({
    proxy_type: "a2a",
    proxy_subtype: "message_send",
    server_id: agentId,
    agent_grant_id: grantId,
    agent_authz_decision: "allow",
    autonomy_level: "autonomous",
    a2a_protocol_version: "1.0",
    delegation_depth: 1,
    success: true,
  });
});
