import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, rowsOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

let world: World;
let owner: AdminClient;
let team: Team;
const PATH = "/v1/admin/compliance/residency";

beforeAll(async () => {
  world = await startWorld();
  const { admin } = world;
  const account = { tenant_id: "default", username: "keeper", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  team = await newTeam(admin, "team");
  for (const [key, region] of [
    ["frankfurt", "eu-central-1"],
    ["virginia", "us-east-1"],
    ["nowhere", null],
  ] as const) {
    const upstream = { api_format: "openai", base_url: world.upstream.baseUrl, api_key: "sk-upstream" };
    await owner.post("/v1/admin/providers", { provider_key: key, ...upstream, ...(region === null ? {} : { region }) });
    await owner.post("/v1/admin/llms", { name: `in-${key}`, provider: key, group_ids: [team.groupId] });
  }
});
afterAll(() => world.end());

async function ask(model: string): Promise<{ id: string; status: number }> {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": team.apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.body?.cancel();
  return { id: answer.headers.get("x-request-id") as string, status: answer.status };
}

test("the report lists where content went with the first and last row, and blocked calls separately", async () => {
  const calls = [await ask("in-frankfurt"), await ask("in-virginia"), await ask("in-nowhere")];
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await world.admin.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: ["eu-central-1"] })).status).toBe(200);
  await until(
    () => ask("in-virginia"),
    ({ status }) => status === 403,
  );
  await ask("in-frankfurt");
  const last = await ask("in-nowhere");
  expect(last.status).toBe(403);
  await rowOf(owner, { id: last.id });

  const to = new Date(Date.now()).toISOString();
  const report = await owner.get(`${PATH}?from=2026-01-01T00:00:00Z&to=${to}`);
  const rows: any[] = (await rowsOf(owner, { resource_group_id: team.groupId }, 6)).filter(
    (row: any) => row.llm_provider !== null || row.residency_class !== null,
  );
  expect(report.allowed_regions).toEqual(["eu-central-1"]);
  expect(report.calls).toBe(rows.length);
  for (const place of report.places) {
    const blocked = place.kind === "nobody";
    const own = rows.filter(
      (row) =>
        (row.region_routed_to ?? null) === place.region &&
        (row.residency_class ?? null) === place.residency_class &&
        (row.llm_model_used ?? null) === place.model &&
        (blocked || row.llm_provider === place.recipient),
    );
    const ids = own.map(({ id }) => id).toSorted();
    expect([place.calls, place.first_row, place.last_row]).toEqual([own.length, ids[0], ids.at(-1)]);
    expect(blocked).toBe(place.residency_class === "blocked");
  }
  const frankfurt = report.regions.find(({ region }: any) => region === "eu-central-1");
  expect(frankfurt).toMatchObject({ allowed: true, calls: 2, blocked: 0 });
  expect(
    report.places.filter(({ kind }: any) => kind === "nobody").reduce((sum: number, one: any) => sum + one.calls, 0),
  ).toBeGreaterThanOrEqual(2);
  expect(report.regions.find(({ region }: any) => region === "us-east-1")).toMatchObject({ allowed: false });
});

test("the report has no calls of another tenant", async () => {
  await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  const account = { tenant_id: "others", username: "keeper", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const other = await signIn(world.gateway.adminUrl, account, "tenant");
  expect(await other.get(PATH)).toMatchObject({ calls: 0, regions: [], places: [], allowed_regions: [] });
});
