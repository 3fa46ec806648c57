import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type DatabaseConnection, openDatabase } from "../../../server/store/database.ts";
import { rowOf, serveModels, type Served, signIn } from "../../support/worlds/admin.ts";
import { startFakeJudge } from "../../support/vendors/fake-judge.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Usage by the labels that callers give their calls, as for internal billing. */

let world: World;
let served: Served;
let openai: OpenAI;
let connection: DatabaseConnection;

beforeAll(async () => {
  world = await startWorld();
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const priced = { input_cost_per_million_tokens: 1_000, output_cost_per_million_tokens: 2_000 };
  served = await serveModels(world.admin, world.upstream.baseUrl, [{ name: "dear", ...priced }, "free"]);
  openai = new OpenAI({ apiKey: served.apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});
afterAll(async () => {
  await connection.close();
  await world.end();
});

const ask = (labels: string | undefined, model = "dear") =>
  openai.chat.completions.create(
    { model, messages: [{ role: "user", content: "Hello" }] },
    labels === undefined ? {} : { headers: { "x-gw-labels": labels } },
  );
const usage = async (query: string, tenant = "default") =>
  (await world.admin.request("GET", `/v1/admin/usage?tenant_id=${tenant}&${query}`)).body;
const byLabel = async (query: string): Promise<Record<string, number>> =>
  Object.fromEntries((await usage(query)).usage.map((part: any) => [String(part.label), part.requests]));
const shipped = (requests: number) =>
  until(
    async () => (await usage("")).totals.requests,
    (found) => found >= requests,
  );

test("usage is reported by the values of a label, and of calls without it", async () => {
  await ask("team=search,feature=summaries");
  await ask(" team = search , feature=z%C3%BCrich%20trips");
  await ask("team=ads", "free");
  await ask(undefined);
  await shipped(4);
  expect(await byLabel("group_by=label:team")).toEqual({ search: 2, null: 1, ads: 1 });
  expect(await byLabel("group_by=label:feature")).toEqual({ null: 2, summaries: 1, "zürich trips": 1 });
  expect(await byLabel("group_by=label:nobody")).toEqual({ null: 4 });
  // All calls of this model had the label.
  expect(await byLabel("group_by=label:team&model=free")).toEqual({ ads: 1 });
  const all = (await usage("")).totals;
  const found = await usage("group_by=day,model,label:team");
  expect(found.totals).toEqual(all);
  expect(found.usage.find((part: any) => part.label === "search")).toMatchObject({ model: "dear", requests: 2, errors: 0 });
  expect(found.usage.find((part: any) => part.label === "ads")).toMatchObject({ model: "free", cost_usd: 0, unpriced_requests: 1 });
  const searches = await usage("label=team=search&group_by=api_key");
  expect(searches.usage).toMatchObject([{ api_key_id: served.apiKeyId, requests: 2 }]);
  expect(searches.totals.cost_usd).toBeCloseTo((all.cost_usd * 2) / 3, 6);
  expect((await usage("label=team=nobody")).totals.requests).toBe(0);
  const csv = await (
    await fetch(`${world.gateway.adminUrl}/v1/admin/usage?tenant_id=default&group_by=label:team&format=csv`, {
      headers: { authorization: `Bearer ${world.admin.token}` },
    })
  ).text();
  expect(csv.split("\r\n").map((line) => line.split(",").slice(0, 2).join(","))).toEqual(["label,requests", "search,2", ",1", "ads,1", ""]);
});

test("the row says the labels, and rows are found by them", async () => {
  await ask("team=search,ticket=T-1");
  const row = await rowOf(world.admin, { custom_metadata: { labels: { team: "search", ticket: "T-1" } } });
  expect(row.custom_metadata.labels).toEqual({ team: "search", ticket: "T-1" });
});

test("the names of labels are listed, those of the own tenant alone", async () => {
  const { labels } = await world.admin.get("/v1/admin/usage/labels?tenant_id=default");
  expect(labels.slice(0, 2)).toEqual([
    { name: "team", values: 2 },
    { name: "feature", values: 2 },
  ]);
  await world.admin.post("/v1/admin/tenants", { id: "other", name: "Other" });
  const person = { username: "owner-of-other", password: "correct horse battery" };
  await world.admin.post("/v1/admin/admin-users", { ...person, role: "owner", tenant_id: "other" });
  const owner = await signIn(world.gateway.adminUrl, { ...person, tenant_id: "other" }, "tenant");
  expect((await owner.get("/v1/admin/usage/labels")).labels).toEqual([]);
  expect((await owner.request("GET", "/v1/admin/usage/labels?tenant_id=default")).status).toBe(403);
  expect((await owner.get("/v1/admin/usage?group_by=label:team")).usage).toEqual([]);
  expect((await owner.request("GET", "/v1/admin/usage?tenant_id=default&group_by=label:team")).status).toBe(403);
});

test.each([
  ["team", "x-gw-labels"],
  ["Team=search", "x-gw-labels"],
  ["team=", "x-gw-labels"],
  ["team=a,team=b", "has team twice"],
  ["team=a,", "x-gw-labels"],
  ["__proto__=a", "x-gw-labels"],
  ["team=%ff", "percent-encoded"],
  ["team=a%00b", "percent-encoded"],
  ["team=a%E2%80%AEb", "percent-encoded"],
  [`team=${"a".repeat(101)}`, "100 characters"],
  ["a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1", "more than 10"],
  ["team=sk_gw_api_abcdefghijklmnopqrstuvwxyz", "credential"],
])("a call with the labels %s is refused", async (labels, message) => {
  const error = await ask(labels).then(
    () => null,
    (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
  );
  expect(error?.status).toBe(400);
  expect(JSON.stringify(error?.error)).toContain("x-gw-labels");
  expect(JSON.stringify(error?.error)).toContain(message);
});

test("a wrong label in a query is refused", async () => {
  const problem = async (query: string) => {
    const { status, body } = await world.admin.request("GET", `/v1/admin/usage?tenant_id=default&${query}`);
    return [status, body.fields?.[0]?.field];
  };
  expect(await problem("group_by=label:")).toEqual([400, "group_by"]);
  expect(await problem("group_by=label:team,label:feature")).toEqual([400, "group_by"]);
  expect(await problem("label=team")).toEqual([400, "label"]);
  expect(await problem("label=feature=x&group_by=label:team")).toEqual([400, "label"]);
});

test("the lines of a batch job have the labels of the call that submitted it", async () => {
  const { runtimeUrl } = world.gateway;
  const headers = { "content-type": "application/json", authorization: `Bearer ${served.apiKey}`, "x-gw-labels": "team=batches" };
  const body = { messages: [{ role: "user", content: "Hello" }] };
  const requests = ["a", "b"].map((name) => ({ custom_id: name, body }));
  const made = await fetch(`${runtimeUrl}/v1/proxy/batch/jobs`, {
    method: "POST",
    headers,
    body: JSON.stringify({ requests, model: "dear" }),
  });
  expect(made.status).toBe(201);
  expect(
    (
      await until(
        () => byLabel("group_by=label:team"),
        (found) => (found["batches"] ?? 0) >= 2,
      )
    )["batches"],
  ).toBe(2);
});

test("calls that the gateway makes for a call have its labels", async () => {
  const judge = startFakeJudge();
  const tenant = { tenant_id: "default" };
  const format = { api_format: "openai", api_key: "sk-judge-secret-0000001" };
  await world.admin.post("/v1/admin/providers", { ...tenant, ...format, provider_key: "j", name: "j", base_url: judge.baseUrl });
  const { id } = await world.admin.post("/v1/admin/llms", { ...tenant, name: "judge-1", provider: "j", mode: "chat" });
  const policy = await world.admin.post("/v1/admin/semantic-policies", {
    ...{ ...tenant, name: "no dragons", constraint_text: "Nothing may speak of dragons.", judge_model_id: id },
    ...{ resource_group_ids: [served.groupId], surfaces: ["chat_input"], action: "block", mode: "enforce", on_judge_failure: "block" },
  });
  await ask("team=judged");
  const found = await until(
    async () => (await usage("label=team=judged&group_by=model")).usage,
    (parts) => parts.length >= 2,
  );
  expect(found.map((part: any) => [part.model, part.requests])).toEqual([
    ["dear", 1],
    ["judge-1", 1],
  ]);
  const row = await rowOf(world.admin, { semantic_policy_id: policy.id, proxy_subtype: "semantic_policy_judge" });
  expect(row.custom_metadata).toMatchObject({ labels: { team: "judged" }, semantic_policy: expect.anything() });
  expect((await world.admin.request("DELETE", `/v1/admin/semantic-policies/${policy.id}`)).status).toBe(204);
  await judge.stop();
});

test("an hour's reports have at most a thousand values; calls with more count as calls without the label", async () => {
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
  const figures = { errors: 0, prompt_tokens: 0, completion_tokens: 0, cost_micro_usd: 0, unpriced_requests: 0 };
  await connection.db
    .insertInto("labelled_usage_hourly")
    .values(
      Array.from({ length: 1_000 }, (_, at) => ({
        ...{ tenant_id: "default", hour, label: "id", value: String(at), resource_group_id: "", api_key_id: "", llm_model_used: "dear" },
        ...{ ...figures, requests: 0 },
      })),
    )
    .execute();
  const before = (await usage("")).totals.requests;
  await ask("id=7,team=search");
  await ask("id=one-too-many,team=search");
  await shipped(before + 2);
  const requests = async (label: string) => (await usage(`label=${label}`)).totals.requests;
  expect([await requests("id=7"), await requests("id=one-too-many")]).toEqual([1, 0]);
});
