import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../support/admin.ts";
import { startStatelessServer, type ToolServerFixture } from "../support/tool-servers.ts";
import { startWorld, type World } from "../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";

/** Guardrails on what is sent to tool servers. */
let world: World;
let server: ToolServerFixture;
let url: string;
let team: Team;

beforeAll(async () => {
  world = await startWorld();
  server = startStatelessServer();
  team = await newTeam(world.admin, "guarded");
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: server.baseUrl });
  await grant(world.admin, "tools for guarded", id, [team.groupId], {});
  await world.admin.post("/v1/admin/guardrails/configs", { tenant_id: "default", name: "tool wall", group_ids: [team.groupId], surfaces: { mcp_input: true }, builtin: { pii_enabled: true, secrets_enabled: true } });
  url = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
});
afterAll(async () => {
  await server.stop();
  await world.end();
});

const call = (text: string) => post(url, team.apiKey, stateless(1, "tools/call", { name: "echo", arguments: { text } }));

test("arguments are redacted before the tool server sees them, and on the record", async () => {
  const answer = await call("Mail joe@example.com");
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).toContain("Mail [REDACTED:email]");
  expect(server.seen.map(({ body }) => body).join("")).not.toContain("joe@example.com");
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({ guardrail_action: "redact", guardrail_check: "pii", pii_detected: true, success: true });
  expect(JSON.stringify(row)).not.toContain("joe@example.com");
});

test("a secret reaches no tool server", async () => {
  const before = server.seen.length;
  const answer = await call("ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q");
  expect(answer.body.error).toMatchObject({ code: 4031, data: { code: "guardrail_blocked", guardrail: "tool wall", check: "secrets", direction: "input" } });
  expect(server.seen.length).toBe(before);
  const row = await rowOf(world.admin, { id: answer.headers.get("x-request-id") });
  expect(row).toMatchObject({ guardrail_blocked: true, guardrail_check: "secrets", success: false, error_type: "guardrail_blocked" });
  expect(JSON.stringify(row)).not.toContain("ghp_");
});
