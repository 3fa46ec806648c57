import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf, serveModels, type Served, signIn } from "../../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";

let database: TestDatabase;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;
let childId: string;

const read = (query: string) => admin.request("GET", `/v1/admin/usage?tenant_id=default&${query}`);
const usage = async (query: string) => (await read(query)).body;

/** Usage totals from a year ago, whose rows are long gone: by group, key, model, calls and micro-dollars. */
async function pastHours(tenantId: string, hours: readonly (readonly [string, string, string, string, number, number])[]): Promise<void> {
  const figures = { errors: 1, prompt_tokens: 10, completion_tokens: 5, unpriced_requests: 0 };
  await database.db
    .insertInto("usage_hourly")
    .values(
      hours.map(([hour, group, key, model, requests, cost]) => ({
        ...{ tenant_id: tenantId, hour: new Date(hour), resource_group_id: group, api_key_id: key, llm_model_used: model },
        ...{ ...figures, requests, cost_micro_usd: cost },
      })),
    )
    .execute();
}

beforeAll(async () => {
  database = await testDatabase();
  upstream = startFakeUpstream();
  gateway = await startGateway({ databaseUrl: database.url });
  admin = await signIn(gateway.adminUrl);
  const priced = { input_cost_per_million_tokens: 1_000, output_cost_per_million_tokens: 2_000 };
  served = await serveModels(admin, upstream.baseUrl, [{ name: "dear", ...priced }, "free"]);
  childId = (
    await admin.post("/v1/admin/resource-groups", {
      tenant_id: "default",
      name: "child",
      group_type: "team",
      parent_group_id: served.groupId,
    })
  ).id;
  await admin.post("/v1/admin/tenants", { id: "other", name: "Other" });
  const { groupId, apiKeyId } = served;
  await pastHours("default", [
    ["2025-03-31T22:00:00Z", groupId, apiKeyId, "dear", 3, 1_000_000],
    ["2025-03-31T23:00:00Z", groupId, apiKeyId, "free", 2, 0],
    ["2025-04-01T00:00:00Z", childId, "", "dear", 5, 4_000_000],
    ["2025-04-01T05:00:00Z", "11111111-1111-4111-8111-111111111111", "", "gone", 1, 0],
  ]);
  await pastHours("other", [["2025-04-01T00:00:00Z", groupId, apiKeyId, "dear", 100, 9_000_000]]);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

const PAST = "from=2025-03-01T00:00:00Z&to=2025-05-01T00:00:00Z";

test("usage equals the sum of the rows as soon as they are in the database", async () => {
  const call = (model: string) =>
    fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${served.apiKey}` },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
  for (const model of ["dear", "dear", "free"]) await (await call(model)).arrayBuffer();
  const rows = await rowsOf(admin, { api_key_id: served.apiKeyId }, 3);
  const found = await usage("group_by=api_key,model");
  const sum = (name: string) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
  expect(found.totals).toMatchObject({
    requests: 3,
    errors: 0,
    prompt_tokens: sum("llm_prompt_tokens"),
    completion_tokens: sum("llm_completion_tokens"),
  });
  expect(found.totals.cost_usd).toBeCloseTo(sum("llm_estimated_cost_usd"), 6);
  expect(found.totals.cost_usd).toBeGreaterThan(0);
  expect(found.usage[0]).toMatchObject({ api_key_id: served.apiKeyId, api_key_name: "team key", model: "dear", requests: 2 });
  expect(found.usage.find(({ model }: { model: string }) => model === "free")).toMatchObject({ cost_usd: 0, unpriced_requests: 1 });
});

test("usage is grouped by periods in UTC, in order, and by other dimensions", async () => {
  expect(await usage(`${PAST}&group_by=month`)).toMatchObject({
    usage: [
      { period: "2025-03", requests: 5, cost_usd: 1 },
      { period: "2025-04", requests: 6, cost_usd: 4 },
    ],
    total: 2,
    totals: { requests: 11, errors: 4, cost_usd: 5 },
  });
  const days = await usage(PAST);
  expect(days.usage.map(({ period }: { period: string }) => period)).toEqual(["2025-03-31", "2025-04-01"]);
  const hours = await usage(`${PAST}&group_by=hour,model&page_size=1&page=3`);
  expect(hours).toMatchObject({ total: 4, page: 3, totals: { requests: 11 } });
  expect(hours.usage).toEqual([
    {
      ...{ period: "2025-04-01T00:00:00Z", model: "dear", requests: 5, errors: 1, prompt_tokens: 10, completion_tokens: 5 },
      ...{ cost_usd: 4, unpriced_requests: 0 },
    },
  ]);
  const groups = await usage(`${PAST}&group_by=resource_group`);
  expect(groups.usage.map((part: Record<string, unknown>) => [part["resource_group_name"], part["cost_usd"], part["requests"]])).toEqual([
    ["child", 4, 5],
    ["team", 1, 5],
    [null, 0, 1],
  ]);
});

test("usage is filtered by group, with or without its subgroups, by key and by model", async () => {
  const requests = async (query: string) => (await usage(`${PAST}&group_by=month&${query}`)).totals.requests;
  expect(await requests(`resource_group_id=${served.groupId}`)).toBe(5);
  expect(await requests(`resource_group_id=${served.groupId}&subgroups=true`)).toBe(10);
  expect(await requests(`resource_group_id=${childId}&subgroups=true`)).toBe(5);
  expect(await requests("resource_group_id=11111111-1111-4111-8111-111111111111")).toBe(1);
  expect(await requests(`api_key_id=${served.apiKeyId}`)).toBe(5);
  expect(await requests("model=dear")).toBe(8);
  expect(await requests("model=dea_")).toBe(0);
});

test("a time window is extended to the whole hours it touches", async () => {
  const { usage: parts, from, to } = await usage("from=2025-03-31T22:59:59Z&to=2025-03-31T23:00:01%2B00:00&group_by=hour");
  expect([from, to]).toEqual(["2025-03-31T22:00:00.000Z", "2025-04-01T00:00:00.000Z"]);
  expect(parts.map(({ period }: { period: string }) => period)).toEqual(["2025-03-31T22:00:00Z", "2025-03-31T23:00:00Z"]);
});

test("usage of another tenant is not visible", async () => {
  const other = await admin.request("GET", `/v1/admin/usage?tenant_id=other&${PAST}&group_by=resource_group`);
  expect(other.body.usage).toMatchObject([{ resource_group_id: served.groupId, resource_group_name: null, requests: 100, cost_usd: 9 }]);
  await admin.post("/v1/admin/admin-users", {
    ...{ username: "auditor-of-other", password: "correct horse battery", role: "owner", tenant_id: "other" },
  });
  const owner = await signIn(
    gateway.adminUrl,
    { username: "auditor-of-other", password: "correct horse battery", tenant_id: "other" },
    "tenant",
  );
  expect((await owner.request("GET", `/v1/admin/usage?${PAST}`)).body.totals.requests).toBe(100);
  expect((await owner.request("GET", `/v1/admin/usage?tenant_id=default&${PAST}`)).status).toBe(403);
});

test("usage as CSV has all rows, and only the header line where there are none", async () => {
  const file = await fetch(`${gateway.adminUrl}/v1/admin/usage?tenant_id=default&${PAST}&group_by=month,resource_group&format=csv`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  expect(file.headers.get("content-disposition")).toBe('attachment; filename="usage.csv"');
  const lines = (await file.text()).split("\r\n");
  expect(lines[0]).toBe(
    "period,resource_group_id,resource_group_name,requests,errors,prompt_tokens,completion_tokens,cost_usd,unpriced_requests",
  );
  expect(lines.slice(1)).toEqual([
    `2025-03,${served.groupId},team,5,2,20,10,1,0`,
    `2025-04,${childId},child,5,1,10,5,4,0`,
    "2025-04,11111111-1111-4111-8111-111111111111,,1,1,10,5,0,0",
    "",
  ]);
  const none = await read("from=2024-01-01T00:00:00Z&to=2024-02-01T00:00:00Z&group_by=model&format=csv");
  expect(none.body).toBe("model,requests,errors,prompt_tokens,completion_tokens,cost_usd,unpriced_requests\r\n");
});

test("usage of a deleted group counts for its parent", async () => {
  expect((await admin.request("DELETE", `/v1/admin/resource-groups/${childId}`)).status).toBe(204);
  const parts = (await usage(`${PAST}&group_by=resource_group`)).usage;
  expect(parts.map((part: Record<string, unknown>) => [part["resource_group_name"], part["requests"]])).toEqual([
    ["team", 10],
    [null, 1],
  ]);
  const { totals } = await usage(`${PAST}&resource_group_id=${served.groupId}`);
  expect(totals.requests).toBe(10);
});

test.each([
  ["group_by=week", "group_by"],
  ["group_by=", "group_by"],
  ["group_by=model,model", "group_by"],
  ["group_by=day,month", "group_by"],
  ["from=yesterday", "from"],
  ["from=2025-04-02T00:00:00Z&to=2025-04-01T00:00:00Z", "from"],
  ["from=2020-01-01T00:00:00Z", "from"],
  ["subgroups=true", "subgroups"],
  ["resource_group_id=team", "resource_group_id"],
  ["key=k", "key"],
])("the query %s is refused with the parameter's name", async (query, field) => {
  const refused = await read(query);
  expect(refused).toMatchObject({ status: 400, body: { code: "invalid_query", fields: [{ field }] } });
});
