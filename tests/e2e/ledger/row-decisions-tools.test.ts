import { afterAll, beforeAll, expect, test } from "bun:test";
import { CLAIMED, CLAIMS, rowOf } from "../../support/worlds/admin.ts";
import { startHandshakeServer, startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** What rows of tool traffic record about inspections and about authorization. */
let world: World;
let server: ToolServerFixture;
let old: ToolServerFixture;
let watched: Team;
let free: Team;
let outsider: Team;
let urls: { readonly direct: string; readonly bridged: string; readonly virtual: string };
let config: string;
let off: string;

const tenant = { tenant_id: "default" };

beforeAll(async () => {
  world = await startWorld();
  const { admin, gateway } = world;
  server = startStatelessServer();
  old = startHandshakeServer();
  watched = await newTeam(admin, "watched");
  free = await newTeam(admin, "free");
  outsider = await newTeam(admin, "outsider");
  const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "tools", base_url: server.baseUrl });
  const { id: oldId } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "old", base_url: old.baseUrl });
  ({ id: off } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "off", base_url: "http://127.0.0.1:9", enabled: false }));
  for (const [name, of] of [
    ["tools", id],
    ["old", oldId],
    ["off", off],
  ] as const)
    await grant(admin, name, of, [watched.groupId, free.groupId], { disabled_tools: ["ask"] });
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    ...tenant,
    name: "all",
    members: [{ mcp_server_id: id, slug: "new" }],
    group_ids: [watched.groupId, free.groupId],
  });
  ({ id: config } = await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "tool wall",
    group_ids: [watched.groupId],
    builtin: { pii_enabled: true },
  }));
  const at = (path: string) => `${gateway.runtimeUrl}/v1/proxy/${path}`;
  urls = { direct: at(`mcp/${id}`), bridged: at(`mcp/${oldId}`), virtual: at(`vmcp/${virtual.id}`) };
});
afterAll(async () => {
  await server.stop();
  await old.stop();
  await world.end();
});

async function rowFor(url: string, team: Team, name: string, rest: Record<string, unknown> = { arguments: { text: "fine" } }) {
  const tool = url.includes("/vmcp/") ? `new__${name}` : name;
  const reply = await post(url, team.apiKey, stateless(1, "tools/call", { name: tool, ...rest }), CLAIMS);
  return { status: reply.status, row: await rowOf(world.admin, { id: reply.headers.get("x-request-id") }) };
}

test.each(["direct", "bridged", "virtual"] as const)(
  "the row of a tool call distinguishes guardrails that found nothing from no guardrails at all (%s)",
  async (which) => {
    const url = urls[which];
    const listed = await post(url, watched.apiKey, stateless(1, "tools/list"));
    const found = { guardrail_blocked: false, pii_detected: false, guardrail_config_id: config, guardrail_action: null };
    expect(await rowOf(world.admin, { id: listed.headers.get("x-request-id") })).toMatchObject({ ...found, llm_used_fallback: null });
    expect((await rowFor(url, watched, "echo")).row).toMatchObject({ ...found, success: true, is_auth_event: false });
    const nobody = { guardrail_blocked: null, pii_detected: null, guardrail_config_id: null };
    expect((await rowFor(url, free, "echo")).row).toMatchObject({ ...nobody, ...CLAIMED, success: true });
  },
);

test("a call of a tool without access is recorded with agent_authz_decision deny", async () => {
  for (const which of ["direct", "bridged", "virtual"] as const)
    for (const [team, tool] of [
      [free, "ask"],
      [outsider, "echo"],
    ] as const) {
      const { status, row } = await rowFor(urls[which], team, tool);
      expect([which, status, row.agent_authz_decision, row.success]).toEqual([which, 403, "deny", false]);
    }
  const { row } = await rowFor(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${off}`, free, "echo");
  expect([row.error_type, row.agent_authz_decision]).toEqual(["tool_server_disabled", "deny"]);
  // There is no server to deny access to.
  const { row: nowhere } = await rowFor(`${world.gateway.runtimeUrl}/v1/proxy/mcp/nowhere`, free, "echo");
  expect([nowhere.error_type, nowhere.agent_authz_decision]).toEqual(["tool_server_not_found", null]);
});
