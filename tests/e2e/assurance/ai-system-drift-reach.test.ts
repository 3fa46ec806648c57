import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { until } from "../../support/until.ts";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** A system that reaches its tools through a virtual server and the gateway's own servers keeps to its contract in doing so. */
let world: World;
let owner: AdminClient;
let reviewer: AdminClient;
let tools: ToolServerFixture;
let team: Team;
let virtual: string;

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  for (const username of ["owner", "reviewer"]) await admin.post("/v1/admin/admin-users", { ...account(username), role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account("owner"), "tenant");
  reviewer = await signIn(world.gateway.adminUrl, account("reviewer"), "tenant");
  tools = startStatelessServer();
  team = await newTeam(admin, "reaching");
  const server = (await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "desk", base_url: tools.baseUrl })).id;
  await grant(admin, "desk", server, [team.groupId], { enabled_tools: ["echo"] });
  virtual = (await owner.post("/v1/admin/virtual-servers", { name: "all", mcp_server_ids: [server], group_ids: [team.groupId] })).id;
  await owner.post("/v1/admin/knowledgebases", { name: "handbook", group_ids: [team.groupId] });
  await grantSkill("agreed");
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

async function grantSkill(name: string): Promise<string> {
  const files = [{ path: "SKILL.md", content: `---\nname: ${name}\ndescription: Helps.\n---\nHelp.\n` }];
  const { id } = (await owner.post("/v1/admin/agent-skills/import", { files })).skill;
  await owner.post(`/v1/admin/agent-skills/${id}/versions/1/publish`, {});
  await owner.post(`/v1/admin/resource-groups/${team.groupId}/agent-skills`, { skill_ids: [id] });
  return id;
}

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
const use = (path: string, name: string, args: object) =>
  post(`${world.gateway.runtimeUrl}/v1/proxy/${path}`, team.apiKey, stateless(1, "tools/call", { name, arguments: args }));
const load = (name: string) => use("mcp/system-agent-skill-server-default", "skills__load", { skill_name: name });
const findings = async (): Promise<any[]> => (await owner.get(`${at("/drift")}?status=open`)).findings;
const observed = (tool: string) =>
  until(
    () => owner.get(at("/baselines")),
    ({ seen }: any) => seen.tool.some(({ subject }: any) => subject.includes(tool)),
  );

test("tools of a virtual server, skills and knowledge bases under contract are no finding when they are used", async () => {
  const { id } = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await owner.post(`/v1/admin/contracts/${id}/promote`, {});
  const answers = [
    await use(`vmcp/${virtual}`, "desk__echo", { text: "hi" }),
    await use("mcp/system-agent-skill-server-default", "skills__list", {}),
    await load("agreed"),
    await use("mcp/system-knowledge-default", "search_knowledge", { query: "hi" }),
  ];
  expect(answers.map(({ body }) => body.result?.isError ?? body.error ?? false)).toEqual([false, false, false, false]);
  for (const tool of ["echo", "skills__list", "skills__load", "search_knowledge"]) await observed(tool);
  expect((await findings()).map(({ title }) => title)).toEqual([]);
});

test("calls of tools and skills count among the calls of a system that asks no model, and failures among its errors", async () => {
  expect((await load("none")).body.result.isError).toBe(true);
  expect((await use(`vmcp/${virtual}`, "desk__none", {})).status).toBe(403);
  const onBoard = () => owner.get("/v1/admin/ai-systems").then(({ ai_systems }: any) => ai_systems[0]);
  const shown = await until(onBoard, ({ calls }) => calls >= 6);
  expect([shown.calls, shown.cost_usd, shown.gaps.some(({ id }: any) => id === "called_before_service")]).toEqual([6, 0, true]);
  const policy = { name: "stop", finding_kinds: ["tool_drift"], action: "suspend" };
  expect((await owner.post(at("/response-policies/preview"), policy)).calls_last_day).toBe(6);
  const { components } = await owner.get(at("/health"));
  expect(components.find(({ id }: any) => id === "errors").detail).toBe("1 of 6 calls failed.");
});

test("a skill that the contract does not name is a finding", async () => {
  const id = await grantSkill("further");
  await until(
    () => load("further"),
    ({ body }) => body.result?.isError !== true,
  );
  const found = await until(findings, (all) => all.some(({ kind }) => kind === "tool_drift"));
  expect(found.find(({ kind }) => kind === "tool_drift")).toMatchObject({
    severity: "high",
    title: `The skill ${id} is not in contract 1`,
    detail: { skill_id: id },
  });
});
