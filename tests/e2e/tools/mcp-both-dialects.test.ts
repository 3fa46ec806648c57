import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServerOfBoth, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, handshakeClient, newTeam, post, stateless, statelessClient, type Team, textOf } from "./mcp-harness.ts";

/** Servers that speak both dialects. */
let world: World;
let team: Team;
let server: ToolServerFixture;
let id: string;

const at = () => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "bilingual");
  server = startServerOfBoth();
  const registered = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "both", base_url: server.baseUrl });
  expect(registered.dialect).toBe("stateless");
  id = registered.id;
  await grant(world.admin, "both", id, [team.groupId]);
});
afterAll(async () => {
  await server.stop();
  await world.end();
});

test("a server that speaks both protocol versions is called in the caller's own, with the server's own session", async () => {
  const first = await handshakeClient(at(), team.apiKey);
  expect(textOf(await first.callTool({ name: "echo", arguments: { text: "a" } }))).toBe("old: a");
  expect(textOf(await first.callTool({ name: "ask_aside" }))).toBe("hello Ada");
  await first.close();
  const second = await statelessClient(at(), team.apiKey);
  expect(textOf(await second.callTool({ name: "echo", arguments: { text: "b" } }))).toBe("new: b");
  await second.close();
});

test("a member of a virtual server that speaks both is called in the caller's protocol version", async () => {
  const { id: virtual } = await world.admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "behind",
    members: [{ mcp_server_id: id, slug: "both" }],
    group_ids: [team.groupId],
  });
  const url = `${world.gateway.runtimeUrl}/v1/proxy/vmcp/${virtual}`;
  const first = await handshakeClient(url, team.apiKey);
  expect(textOf(await first.callTool({ name: "both__ask" }))).toBe("hello Ada");
  expect(textOf(await first.callTool({ name: "both__echo", arguments: { text: "a" } }))).toBe("old: a");
  await first.close();
  expect(
    (await post(url, team.apiKey, stateless(1, "tools/call", { name: "both__echo", arguments: { text: "b" } }))).body.result.content[0]
      .text,
  ).toBe("new: b");
});

test("discovery leaves no session at the server", async () => {
  const before = server.seen.length;
  await world.admin.post("/v1/admin/mcp-servers/test-connection", { base_url: server.baseUrl });
  const since = server.seen.slice(before);
  expect(since.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(1);
  expect(since.filter(({ method }) => method === "DELETE")).toHaveLength(1);
});
