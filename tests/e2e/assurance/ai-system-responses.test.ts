import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";
import { startHandshakeServer } from "../../support/tool-servers/tool-servers.ts";
import { grant, newTeam, post, stateless, type Team } from "../tools/mcp-harness.ts";

/** What a finding triggers automatically: it restricts the system, records what it did, and a person can undo it. */
let world: World;
let owner: AdminClient;
let reviewer: AdminClient;
let first: Team;
let second: Team;

beforeAll(async () => {
  world = await startWorld();
  const account = (username: string) => ({ tenant_id: "default", username, password: ADMIN_PASSWORD });
  for (const username of ["owner", "reviewer"]) await world.admin.post("/v1/admin/admin-users", { ...account(username), role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account("owner"), "tenant");
  reviewer = await signIn(world.gateway.adminUrl, account("reviewer"), "tenant");
  first = await newTeam(world.admin, "first");
  second = await newTeam(world.admin, "second");
  await owner.post("/v1/admin/providers", { provider_key: "own-echo", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "agreed", provider: "own-echo", group_ids: [first.groupId, second.groupId] });
  for (const { groupId } of [first, second]) {
    await owner.post("/v1/admin/ai-systems", { group_id: groupId });
    const { id } = await owner.post(`/v1/admin/ai-systems/${groupId}/contracts`, {});
    await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
    await owner.post(`/v1/admin/contracts/${id}/promote`, {});
  }
});
afterAll(() => world.end());

const at = (team: Team, rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
async function ask(team: Team, model: string): Promise<number> {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.body?.cancel();
  return answer.status;
}
const responses = async (team: Team): Promise<any[]> => (await owner.get(at(team, "/responses"))).responses;

test("an armed response policy suspends a system on a finding, and a person restores it", async () => {
  const policy = { name: "stop what drifts", finding_kinds: ["model_drift"], action: "suspend", mode: "armed" };
  await owner.post("/v1/admin/response-policies", policy);
  await owner.post(at(first, "/response-policies"), { name: "try it", finding_kinds: ["config_drift"], action: "restrict" });
  const holding = (await owner.get(at(first, "/response-policies"))).response_policies;
  expect(holding.map(({ name, mode, inherited }: any) => [name, mode, inherited])).toEqual([
    ["stop what drifts", "armed", true],
    ["try it", "dry_run", false],
  ]);
  await owner.post("/v1/admin/llms", { name: "sneaked-in", provider: "own-echo", group_ids: [first.groupId, second.groupId] });
  await until(
    () => responses(first),
    (all) => all.some(({ status }) => status === "dry_run"),
  );
  expect(
    await until(
      () => ask(first, "agreed"),
      (status) => status === 200,
    ),
  ).toBe(200);

  await until(
    () => ask(first, "sneaked-in"),
    (status) => status === 200,
  );
  const fired = await until(
    () => responses(first),
    (all) => all.some(({ status }) => status === "active"),
  );
  expect(fired.find(({ status }) => status === "active")).toMatchObject({
    policy_name: "stop what drifts",
    action: "suspend",
    reason: "The model sneaked-in is not in contract 1",
  });
  expect(
    await until(
      () => ask(first, "agreed"),
      (status) => status === 403,
    ),
  ).toBe(403);
  expect(await rowOf(world.admin, { resource_group_id: first.groupId, error_type: "ai_system_suspended" })).toMatchObject({
    autonomy_level: "suspended",
    autonomy_provenance: "live",
  });
  expect((await owner.get(at(first, "/envelope"))).effective.autonomy_level).toBe("suspended");

  const undone = await owner.post(at(first, "/restore"), { reason: "looked at it" });
  expect(undone.restored.map(({ status, ended_by }: any) => [status, ended_by])).toEqual([["restored", "owner"]]);
  expect(
    await until(
      () => ask(first, "agreed"),
      (status) => status === 200,
    ),
  ).toBe(200);
  expect((await owner.request("POST", at(first, "/restore"), { reason: "again" })).body.code).toBe("illegal_transition");
});

test("a response policy that has restricted as many systems as it may leaves further ones to a person", async () => {
  const preview = await owner.post(at(second, "/response-policies/preview"), {
    name: "what if",
    finding_kinds: ["config_drift"],
    action: "suspend",
  });
  expect([preview.would_fire_for.map(({ kind }: any) => kind), preview.keys, preview.effect]).toEqual([
    ["config_drift"],
    1,
    "Every call of it is refused.",
  ]);
  await until(
    () => ask(second, "sneaked-in"),
    (status) => status === 200,
  );
  const [refused] = await until(
    () => responses(second),
    (all) => all.length > 0,
  );
  expect([refused.status, refused.reason]).toEqual([
    "refused",
    "It has narrowed 1 other systems within the hour, and may 1: somebody has to decide.",
  ]);
  expect(await ask(second, "agreed")).toBe(200);
});

test("an open finding that becomes more severe triggers the response of that severity once", async () => {
  const team = await newTeam(world.admin, "fourth");
  const { id: harmless } = await owner.post("/v1/admin/llms", { name: "left out", provider: "own-echo", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
  const { id } = await owner.post(at(team, "/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await owner.post(`/v1/admin/contracts/${id}/promote`, {});
  await owner.post(at(team, "/response-policies"), {
    ...{ name: "fourth: stop", finding_kinds: ["config_drift"], min_severity: "high", action: "suspend", mode: "armed" },
  });
  const findings = async (): Promise<any[]> => (await owner.get(at(team, "/drift?status=open"))).findings;
  await owner.request("DELETE", `/v1/admin/llms/${harmless}`);
  const [found] = await until(findings, (all) => all.length > 0);
  expect([found.kind, found.severity, await responses(team)]).toEqual(["config_drift", "low", []]);
  await owner.post("/v1/admin/llms", { name: "put in instead", provider: "own-echo", group_ids: [team.groupId] });
  const [fired] = await until(
    () => responses(team),
    (all) => all.length > 0,
  );
  expect([fired.status, fired.action, fired.finding_id]).toEqual(["active", "suspend", found.id]);
  expect((await findings()).map(({ id: one, severity }) => [one, severity])).toEqual([[found.id, "high"]]);
  const { entries } = await owner.get(`/v1/admin/admin-log?resource=drift-findings&resource_id=${found.id}`);
  expect(entries.map(({ action }: any) => action).sort()).toEqual(["find", "worsen"]);
});

test("the response block_tools blocks the system's tools but not its models, until it is restored", async () => {
  const tools = await startHandshakeServer();
  try {
    const team = await newTeam(world.admin, "third");
    const { id: server } = await owner.post("/v1/admin/mcp-servers", { name: "desk", base_url: tools.baseUrl });
    await grant(world.admin, "desk", server, [team.groupId]);
    await owner.post("/v1/admin/llms", { name: "of the third", provider: "own-echo", group_ids: [team.groupId] });
    await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
    const { id } = await owner.post(at(team, "/contracts"), {});
    await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
    await owner.post(`/v1/admin/contracts/${id}/promote`, {});
    await owner.post(at(team, "/response-policies"), {
      ...{ name: "third: no tools", finding_kinds: ["model_drift"], action: "block_tools", mode: "armed" },
    });
    const useTool = async () =>
      (
        await post(
          `${world.gateway.runtimeUrl}/v1/proxy/mcp/${server}`,
          team.apiKey,
          stateless(1, "tools/call", { name: "echo", arguments: { text: "x" } }),
        )
      ).status;
    expect(await useTool()).toBe(200);
    await owner.post("/v1/admin/llms", { name: "new to the third", provider: "own-echo", group_ids: [team.groupId] });
    await until(
      () => ask(team, "new to the third"),
      (status) => status === 200,
    );
    expect(await until(useTool, (status) => status === 403)).toBe(403);
    expect(await ask(team, "of the third")).toBe(200);
    const { restored } = await owner.post(at(team, "/restore"), { reason: "it was agreed" });
    expect(restored.map(({ action }: any) => action)).toEqual(["block_tools"]);
    expect(await until(useTool, (status) => status === 200)).toBe(200);
  } finally {
    await tools.stop();
  }
});
