import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team, textOf } from "./mcp-harness.ts";

let world: World;
let team: Team;
const fixtures: ToolServerFixture[] = [];
const urls: Record<string, string> = {};

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  team = await newTeam(admin, "guarded");
  const ids: string[] = [];
  for (const [name, fixture] of [
    ["old", startHandshakeServer()],
    ["modern", startStatelessServer()],
  ] as const) {
    fixtures.push(fixture);
    const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name, base_url: fixture.baseUrl });
    await grant(admin, name, id, [team.groupId]);
    urls[name] = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
    ids.push(id);
  }
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    ...tenant,
    name: "both",
    mcp_server_ids: ids,
    group_ids: [team.groupId],
  });
  urls.virtual = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual.id}`;
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "tool wall",
    group_ids: [team.groupId],
    surfaces: { mcp_input: true },
    builtin: { banned_words: ["project titan"], pii_enabled: true, pii_action: "redact" },
  });
  await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: "no deletion",
    target: "echo",
    argument_key: "text",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "Reading only." }],
    group_ids: [team.groupId],
  });
});
afterAll(async () => {
  await Promise.all(fixtures.map((fixture) => fixture.stop()));
  await world.end();
});

const call = (name: string, text: string) => stateless(1, "tools/call", { name, arguments: { text } });
const reached = () => fixtures.reduce((sum, { seen }) => sum + seen.filter(({ body }) => body.includes('"tools/call"')).length, 0);

test.each([
  ["modern", "echo"],
  ["old", "echo"],
  ["virtual", "modern__echo"],
] as const)("arguments of tool calls at a %s server are inspected by guardrails and argument policies", async (server, tool) => {
  const url = urls[server] ?? "";
  const before = reached();
  const blocked = await post(url, team.apiKey, call(tool, "Tell me of Project Titan"));
  expect([blocked.status, blocked.body.error.code, blocked.body.error.data.code]).toEqual([403, 4031, "guardrail_blocked"]);
  const denied = await post(url, team.apiKey, call(tool, "DELETE FROM users"));
  expect([denied.status, denied.body.error.code, denied.body.error.data.code, denied.body.error.message]).toEqual([
    403,
    4031,
    "argument_policy_denied",
    "Reading only.",
  ]);
  expect(reached()).toBe(before);
  const row = await rowOf(world.admin, { error_type: "argument_policy_denied", mcp_capability_name: tool });
  expect([row.argument_policy_denied, row.success]).toEqual([true, false]);

  const redacted = await post(url, team.apiKey, call(tool, "SELECT 'joe@example.com'"));
  expect(textOf(redacted.body.result)).not.toContain("joe@example.com");
  expect(textOf(redacted.body.result)).toContain("SELECT");
});
