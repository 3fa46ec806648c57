import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf } from "../../support/worlds/admin.ts";
import {
  BEDROCK_KEY,
  BEDROCK_ROLE,
  bedrockBatchVendor,
  type BucketBatchVendor,
  VERTEX_TOKEN,
  vertexBatchVendor,
} from "../../support/vendors/bucket-batch-vendors.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Jobs that providers run as batches through a bucket of the tenant's own. */

const MODELS = { bedrock: "bedrock", gemini: "vertex", claude: "vertex" } as const;
type Model = keyof typeof MODELS;
const NAMES = { bedrock: "eu.amazon.nova-lite-v1:0", gemini: "gemini-2.5-flash", claude: "claude-haiku-4-5@20251001" } as const;

let world: World;
let admin: AdminClient;
let groupId: string;
let apiKey: string;
const vendors = {} as Record<"bedrock" | "vertex", BucketBatchVendor>;

beforeAll(async () => {
  world = await startWorld();
  ({ admin } = world);
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "batches", group_type: "team" }));
  vendors.bedrock = bedrockBatchVendor();
  vendors.vertex = vertexBatchVendor();
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "bedrock", api_format: "bedrock", base_url: vendors.bedrock.baseUrl, region: "eu-central-1" },
    ...{ api_key: BEDROCK_KEY, batch_mode: "provider", storage_uri: "s3://acme/gate/", storage_endpoint: vendors.bedrock.storeUrl },
    storage_role_arn: BEDROCK_ROLE,
  });
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "vertex", api_format: "vertex", api_key: VERTEX_TOKEN, batch_mode: "provider" },
    ...{ base_url: `${vendors.vertex.baseUrl}/v1/projects/p/locations/europe-west4` },
    ...{ storage_uri: "gs://acme/gate", storage_endpoint: vendors.vertex.storeUrl },
  });
  for (const name of Object.keys(MODELS) as Model[])
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name, model_name: NAMES[name], provider: MODELS[name], enabled: true, group_ids: [groupId] },
      ...{ modes: ["chat"], input_cost_per_million_tokens: 1000, output_cost_per_million_tokens: 1000 },
    });
  apiKey = (await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "batches", access_mode: "shared" })).key_value;
});
afterAll(async () => {
  await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
  await world.end();
});

async function api(method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}
/** Fills up to Bedrock's minimum number of lines, starting with `texts`. */
const filled = (texts: string[]) => [...texts, ...Array.from({ length: 100 - texts.length }, (_, at) => `filler ${at}`)];
const asks = (text: string, at: number) => ({
  custom_id: `${at} ${text}`,
  body: { messages: [{ role: "user", content: text }], max_tokens: 100 },
});
const linesFor = (model: Model, texts: string[]) => (model === "bedrock" ? filled(texts) : texts).map(asks);
const submit = async (body: object) => JSON.parse(await api("POST", "", body));
const ended = (id: string): Promise<any> =>
  until(
    async () => JSON.parse(await api("GET", `/${id}`)),
    ({ ended_at: at }) => at !== null,
  );
const results = async (id: string): Promise<any[]> =>
  (await api("GET", `/${id}/results`))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const said = ({ response }: any) => response?.body.choices?.[0].message.content ?? null;
const all = Object.keys(MODELS) as Model[];

test.each(all)("%s runs a job through the bucket, with one audit row per line at the batch price", async (model) => {
  const vendor = vendors[MODELS[model]];
  const requests = linesFor(model, ["one", "two", "fail", "late"]);
  const made = await submit({ model, requests });
  expect(made).toMatchObject({ mode: "provider", total_requests: requests.length });
  const job = await ended(made.id);
  expect(job).toMatchObject({ status: "completed", request_counts: { completed: requests.length - 2, failed: 2 } });
  const [batch] = vendor.batches;
  expect(batch?.lines).toHaveLength(requests.length);
  expect(batch?.model).toBe(
    { bedrock: "", gemini: "publishers/google/models/", claude: "publishers/anthropic/models/" }[model] + NAMES[model],
  );
  const told = (await results(made.id)).slice(0, 4);
  expect(told.map((one) => [said(one), one.response?.status_code ?? null, one.error?.code ?? null])).toEqual([
    ["ONE", 200, null],
    ["TWO", 200, null],
    [null, 400, "upstream_rejected"],
    [null, null, "upstream_error"],
  ]);
  const rows = await rowsOf(admin, { parent_request_id: made.id, proxy_subtype: "batch_line_chat_completions" }, requests.length);
  expect(rows.find(({ success }) => success)?.custom_metadata.batch).toMatchObject({ price_factor: 0.5, provider_batch: batch?.id });
  const cost = await until(
    async () => (await ended(made.id)).cost_usd,
    (usd) => usd > 0,
  );
  expect(cost).toBeCloseTo((requests.length - 2) * 30 * 0.001 * 0.5, 6);
  // No content of people's requests stays in the bucket.
  expect(
    await until(
      () => [...vendor.objects.keys()],
      (left) => left.length === 0,
    ),
  ).toEqual([]);
});

test.each(all)("a batch that %s accepted without a response is found again and not submitted twice", async (model) => {
  const vendor = vendors[MODELS[model]];
  const before = vendor.batches.length;
  vendor.breakNext = true;
  const { id } = await submit({ model, requests: linesFor(model, ["a", "b"]) });
  expect(await ended(id)).toMatchObject({ status: "completed", request_counts: { failed: 0 } });
  expect(vendor.batches.length).toBe(before + 1);
});

test.each(all)("a cancelled job of %s keeps the results that the provider returned", async (model) => {
  const vendor = vendors[MODELS[model]];
  vendor.endsAtOnce = false;
  const before = vendor.batches.length;
  const { id } = await submit({ model, requests: linesFor(model, ["a", "b", "c", "d"]) });
  await until(
    () => vendor.batches.length,
    (count) => count > before,
  );
  expect(JSON.parse(await api("POST", `/${id}/cancel`))).toMatchObject({ status: "cancelling" });
  expect(await ended(id)).toMatchObject({ status: "cancelled" });
  vendor.endsAtOnce = true;
  expect((await results(id)).slice(0, 4).map((one) => [said(one), one.error?.code ?? null])).toEqual([
    ["A", null],
    [null, "batch_cancelled"],
    ["C", null],
    [null, "batch_cancelled"],
  ]);
});

test.each(["bedrock", "gemini"] as const)("a batch that %s refuses fails its lines; after a 429 it is submitted again", async (model) => {
  const vendor = vendors[MODELS[model]];
  vendor.refuseNext = 429;
  const busy = await submit({ model, requests: linesFor(model, ["a"]) });
  expect(await ended(busy.id)).toMatchObject({ status: "completed", request_counts: { failed: 0 } });
  vendor.refuseNext = 400;
  const wrong = await submit({ model, requests: linesFor(model, ["a"]) });
  expect(await ended(wrong.id)).toMatchObject({ status: "completed", request_counts: { completed: 0 } });
  const [row] = await rowsOf(admin, { parent_request_id: wrong.id, proxy_subtype: "batch_line_chat_completions" }, 1);
  expect(row).toMatchObject({ error_type: "upstream_error", error_message: expect.stringContaining("400") });
  expect(JSON.stringify(row)).not.toContain(VERTEX_TOKEN);
  expect([...vendor.objects.keys()]).toEqual([]);
});

test("the gateway itself runs what Bedrock accepts in no batch: too few lines, and lines with tools", async () => {
  const before = vendors.bedrock.batches.length;
  const few = await submit({ model: "bedrock", requests: ["one"].map(asks) });
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
  const [first, ...others] = filled([]).map(asks);
  const withTools = await submit({ model: "bedrock", requests: [{ ...first, body: { ...first?.body, tools } }, ...others] });
  expect([few.mode, withTools.mode]).toEqual(["gateway", "gateway"]);
  expect(await ended(few.id)).toMatchObject({ status: "completed", request_counts: { completed: 1 } });
  expect((await results(few.id)).map(said)).toEqual(["ONE"]);
  expect(vendors.bedrock.batches.length).toBe(before);
  expect(await ended(withTools.id)).toMatchObject({ status: "completed", request_counts: { completed: 100 } });
});

test("a Bedrock API key that opens no bucket fails the lines with that reason", async () => {
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "bearer", api_format: "bedrock", base_url: vendors.bedrock.baseUrl, region: "eu-central-1" },
    ...{ api_key: "bedrock-api-key-of-ours", batch_mode: "provider", storage_uri: "s3://acme", storage_role_arn: BEDROCK_ROLE },
  });
  await admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "bearer", model_name: "m", provider: "bearer", enabled: true, group_ids: [groupId], modes: ["chat"] },
  });
  const { id } = await submit({ model: "bearer", requests: linesFor("bedrock", []) });
  expect(await ended(id)).toMatchObject({ status: "completed", request_counts: { failed: 100 } });
  const [row] = await rowsOf(admin, { parent_request_id: id, proxy_subtype: "batch_line_chat_completions" }, 1);
  expect(row).toMatchObject({ error_type: "upstream_auth_failed", error_message: expect.stringContaining("ACCESS_KEY_ID:SECRET") });
});

const refusedWith = async (method: string, path: string, body: object) => {
  const { status, body: answer } = await admin.request(method, path, body);
  return [status, ((answer as any).error?.fields ?? (answer as any).fields ?? []).map(({ field }: any) => field)];
};

test("a provider's bucket settings must match its format, and are required for provider batches", async () => {
  const record = { tenant_id: "default", provider_key: "wrong", base_url: "https://vendor.example", api_key: "a-key-that-is-long" };
  const create = (more: object) => refusedWith("POST", "/v1/admin/providers", { ...record, ...more });
  const role = { storage_role_arn: BEDROCK_ROLE };
  expect(await create({ api_format: "openai", storage_uri: "s3://acme/x" })).toEqual([400, ["storage_uri"]]);
  expect(await create({ api_format: "bedrock", storage_uri: "gs://acme/x" })).toEqual([400, ["storage_uri"]]);
  expect(await create({ api_format: "vertex", storage_uri: "gs://acme/../other" })).toEqual([400, ["storage_uri"]]);
  expect(await create({ api_format: "openai", storage_endpoint: "https://s3.example" })).toEqual([400, ["storage_endpoint"]]);
  expect(await create({ api_format: "vertex", ...role })).toEqual([400, ["storage_role_arn"]]);
  expect(await create({ api_format: "bedrock", batch_mode: "provider", ...role })).toEqual([400, ["storage_uri"]]);
  expect(await create({ api_format: "bedrock", batch_mode: "provider", storage_uri: "s3://acme" })).toEqual([400, ["storage_role_arn"]]);
  expect(await create({ api_format: "vertex", batch_mode: "provider" })).toEqual([400, ["storage_uri"]]);
});

test("an API key is not sent to a storage endpoint it was not given for", async () => {
  const { id } = await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "kept", api_format: "vertex", base_url: "https://vendor.example/v1/projects/p/locations/l" },
    ...{ api_key: "a-token-that-is-secret", storage_uri: "gs://acme" },
  });
  const path = `/v1/admin/providers/${id}`;
  const moved = { storage_endpoint: "https://thief.example" };
  expect(await refusedWith("PATCH", path, moved)).toEqual([400, ["api_key"]]);
  const { status } = await admin.request("PATCH", path, { ...moved, api_key: "another-token-of-theirs" });
  expect(status).toBe(200);
  await admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "keyed", model_name: "gemini-x", provider: "kept", api_key: "a-key-of-its-own", modes: ["chat"] },
  });
  expect(await refusedWith("PATCH", path, { storage_endpoint: null, api_key: "another-token-of-theirs" })).toEqual([
    400,
    ["storage_endpoint"],
  ]);
});
