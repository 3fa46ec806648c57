import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

/** What is counted as calls happen, compared with what is counted from their rows after a restart, for each model. */

const tenant = { tenant_id: "default" };
const PRICED = { input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 1 };
const LARGE = { requests: { daily_limit: 1e6 }, tokens: { daily_limit: 1e9 }, budget: { daily_limit_usd: 1e6, hard_stop: true } };
const NEXT_TO_NONE = { requests: { daily_limit: 1 }, tokens: { daily_limit: 1 }, budget: { daily_limit_usd: 0.000001, hard_stop: true } };
type Measure = keyof typeof LARGE;

let database: TestDatabase;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;
const ids: Record<string, string> = {};

beforeAll(async () => {
  database = await testDatabase();
  upstream = startFakeUpstream();
  gateway = await startGateway({ databaseUrl: database.url });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, [{ name: "plain", model_name: "fake-1", ...PRICED }, "change-0"]);
  for (const id of ["either", "doomed", "remembered"])
    await admin.post("/v1/admin/llm-router/routing-groups", {
      ...tenant,
      id,
      name: id,
      mode: "chat",
      routing_strategy: "ordered",
      num_retries: 1,
      allowed_fails: 100,
    });
  const member = async (name: string, model_name: string, routing_group_id: string, routing_weight: number) => {
    const model = await admin.post("/v1/admin/llms", {
      ...tenant,
      name,
      model_name,
      provider: "fake",
      mode: "chat",
      ...PRICED,
      group_ids: [served.groupId],
      routing_group_id,
      routing_weight,
    });
    ids[name] = model.id;
  };
  await member("spends", "spent", "either", 2);
  await member("serves", "fake-1", "either", 1);
  await member("lost", "spent", "doomed", 1);
  await member("kept", "fake-1", "remembered", 1);
  ids.plain = served.models.plain as string;
  await admin.post("/v1/admin/semantic-cache/configs", {
    ...tenant,
    name: "cache",
    enabled: true,
    group_ids: [served.groupId],
    exact_match: { enabled: true, ttl_seconds: 600 },
  });
  for (const id of Object.values(ids)) await limited(id, LARGE);
  await applied();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

async function limited(modelId: string, limits: object): Promise<void> {
  const { status, body } = await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-models/${modelId}/limits`, {
    limits,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

async function chat(model: string, content: string, stream = false): Promise<Response> {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, temperature: 0, messages: [{ role: "user", content }] }),
  });
  await response.clone().text();
  return response;
}

const rowFor = (response: Response) => rowOf(admin, { id: response.headers.get("x-request-id") });

let changes = 0;

/** Resolves when all earlier changes apply to calls. */
async function applied(): Promise<void> {
  const name = `change-${++changes}`;
  await admin.request("PATCH", `/v1/admin/llms/${served.models["change-0"]}`, { name });
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const listed = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${served.apiKey}` } });
    if ((await listed.text()).includes(`"${name}"`)) return;
    if (Date.now() > deadline) throw new Error("a change does not arrive");
  }
}

/** The current usage of each model, taken from refusals, which are not counted themselves. */
async function counted(): Promise<typeof USED> {
  const found: typeof USED = {};
  for (const measure of ["requests", "tokens", "budget"] as const) {
    for (const name of Object.keys(USED)) await limited(ids[name] as string, { ...LARGE, [measure]: NEXT_TO_NONE[measure] });
    await applied();
    for (const name of Object.keys(USED)) {
      const refused = await chat(name, "how much is it");
      found[name] = {
        ...(found[name] as Record<Measure, number>),
        [measure]:
          refused.status === 429
            ? ((await refused.json()) as { usage_limit: { current_usage: number } }).usage_limit.current_usage
            : refused.status,
      };
    }
  }
  for (const name of Object.keys(USED)) await limited(ids[name] as string, LARGE);
  await applied();
  return found;
}

const USED: Record<string, Record<Measure, number>> = {
  spends: { requests: 1, tokens: 16, budget: 0.000016 },
  serves: { requests: 2, tokens: 1516, budget: 0.001516 },
  lost: { requests: 2, tokens: 32, budget: 0.000032 },
  kept: { requests: 1, tokens: 1500, budget: 0.0015 },
  plain: { requests: 2, tokens: 1500, budget: 0.0015 },
};

test("usage per model is the same before and after a restart, with failed members, cached answers and a rename", async () => {
  const fallback = await chat("either", "streamed", true);
  expect([fallback.status, (await chat("serves", "whole")).status, (await chat("doomed", "streamed", true)).status]).toEqual([
    200, 200, 502,
  ]);
  expect(await rowFor(fallback)).toMatchObject({
    llm_model_used: "serves",
    llm_total_tokens: 32,
    custom_metadata: { attempts: [{ model: "spends", prompt_tokens: 12 }, { model: "serves" }] },
  });
  for (const model of ["remembered", "plain"]) {
    expect((await chat(model, "again")).headers.get("x-gw-cache")).toBeNull();
    expect((await chat(model, "again")).headers.get("x-gw-cache")).toBe("exact");
  }
  expect(await counted()).toEqual(USED);

  expect((await admin.request("PATCH", `/v1/admin/llms/${ids.serves}`, { name: "renamed" })).status).toBe(200);
  const taken = await admin.post("/v1/admin/llms", {
    ...tenant,
    name: "serves",
    model_name: "fake-1",
    provider: "fake",
    mode: "chat",
    ...PRICED,
    group_ids: [served.groupId],
  });
  Object.assign(ids, { renamed: ids.serves, serves: taken.id });
  Object.assign(USED, { renamed: USED.serves, serves: { requests: 1, tokens: 1500, budget: 0.0015 } });
  await limited(taken.id, LARGE);
  await applied();
  expect((await chat("serves", "whole")).status).toBe(200);
  expect(await counted()).toEqual(USED);

  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  admin = await signIn(gateway.adminUrl);
  const told = await admin.get(`/v1/admin/resource-groups/${served.groupId}/consumption`);
  expect(
    Object.fromEntries(
      Object.keys(USED).map((name) => [
        name,
        Object.fromEntries(
          told.limits
            .filter((limit: { model_id: string }) => limit.model_id === ids[name])
            .map(({ limit_type, current }: { limit_type: string; current: number }) => [limit_type.replace("daily_", ""), current]),
        ),
      ]),
    ),
  ).toEqual(USED);
  expect(await counted()).toEqual(USED);
});
