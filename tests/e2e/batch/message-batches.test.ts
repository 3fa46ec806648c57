import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { anthropicBatchVendor, type BatchVendor, geminiBatchVendor, openaiBatchVendor } from "../../support/vendors/batch-vendors.ts";
import { startWorld, type World } from "../../support/world.ts";
import { until } from "../../support/until.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Message batches submitted and read with Anthropic's own client, over a provider of another format. */

let world: World;
let served: Served;
let client: Anthropic;

const RUN_BY = { openai: openaiBatchVendor, anthropic: anthropicBatchVendor, gemini: geminiBatchVendor } as const;
const vendors = new Map<string, BatchVendor>();

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "bad-request", "slow-down"]);
  client = clientWith(served.apiKey);
  for (const [format, start] of Object.entries(RUN_BY)) {
    const vendor = start();
    vendors.set(format, vendor);
    await world.admin.post("/v1/admin/providers", {
      ...{ tenant_id: "default", provider_key: format, api_format: format, api_key: "sk-vendor", batch_mode: "provider" },
      base_url: format === "gemini" ? vendor.baseUrl : `${vendor.baseUrl}/v1`,
    });
    await world.admin.post("/v1/admin/llms", { tenant_id: "default", name: `${format}-1`, provider: format, group_ids: [served.groupId] });
  }
});
afterAll(async () => {
  await Promise.all([...vendors.values()].map((vendor) => vendor.stop()));
  await world.end();
});

const clientWith = (apiKey: string) => new Anthropic({ apiKey, baseURL: world.gateway.runtimeUrl, maxRetries: 0 });

const asks = (custom_id: string, model = "fake-1") => ({
  custom_id,
  params: { model, max_tokens: 20, messages: [{ role: "user" as const, content: `say ${custom_id}` }] },
});

const saying = (text: string, model: string) => ({
  custom_id: text,
  params: { model, max_tokens: 20, messages: [{ role: "user" as const, content: text }] },
});

async function jobOf(id: string): Promise<any> {
  const headers = { "x-api-key": served.apiKey };
  return (await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs/${id}`, { headers })).json();
}

const endedBatch = (id: string) =>
  until(
    () => client.messages.batches.retrieve(id),
    ({ processing_status }) => processing_status === "ended",
  );

async function resultsOf(id: string) {
  const found = [];
  for await (const one of await client.messages.batches.results(id)) found.push(one);
  return found;
}

async function raw(method: string, path: string, body?: unknown, apiKey = served.apiKey, version: string | null = "2023-06-01") {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/messages/batches${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json", ...(version !== null && { "anthropic-version": version }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as any };
}

test("each message in a batch runs as its own call, and the results are messages", async () => {
  const made = await client.messages.batches.create({ requests: [asks("a"), asks("b"), asks("wrong", "bad-request")] });
  expect(made).toMatchObject({
    type: "message_batch",
    request_counts: { processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    ended_at: null,
    archived_at: null,
    cancel_initiated_at: null,
    results_url: null,
  });
  const batch = await endedBatch(made.id);
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
  const results = await resultsOf(made.id);
  expect(results.map(({ custom_id, result }) => [custom_id, result.type])).toEqual([
    ["a", "succeeded"],
    ["b", "succeeded"],
    ["wrong", "errored"],
  ]);
  const [first, , wrong] = results.map(({ result }) => result);
  expect(first).toMatchObject({ message: { type: "message", role: "assistant", content: [{ type: "text" }] } });
  expect(wrong).toMatchObject({ error: { type: "error", error: { type: "invalid_request_error" } } });
  const ran = await rowsOf(world.admin, { parent_request_id: made.id, proxy_subtype: "batch_line_anthropic_messages" }, 3);
  expect(ran.map(({ proxy_type }) => proxy_type)).toEqual(["batch", "batch", "batch"]);
});

test("batches are listed in both directions, and only to their owner", async () => {
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) ids.unshift((await client.messages.batches.create({ requests: [asks(name)] })).id);
  const [third, second, first] = ids as [string, string, string];
  const newest = await client.messages.batches.list({ limit: 2 });
  expect(newest).toMatchObject({ has_more: true, first_id: third, last_id: second });
  expect((await newest.getNextPage()).data[0]?.id).toBe(first);
  const before = await client.messages.batches.list({ before_id: first, limit: 1 });
  expect(before).toMatchObject({ has_more: true, first_id: second, last_id: second });
  const other = await newTeam(world.admin, "others");
  expect((await raw("GET", "", undefined, other.apiKey)).json.data).toEqual([]);
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/results"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  ] as const) {
    const refused = await raw(method, `/${first}${path}`, undefined, other.apiKey);
    expect(refused).toMatchObject({ status: 404, json: { type: "error", error: { type: "not_found_error", code: "batch_not_found" } } });
  }
});

test("an invalid message batch is refused with the place of the error, and nothing is run", async () => {
  const { params } = asks("x");
  const cases: [object, string][] = [
    [{ requests: [asks("a"), asks("a")] }, "requests[1].custom_id"],
    [{ requests: [{ custom_id: "a", params: { ...params, stream: true } }] }, "requests[0].params.stream"],
    [{ requests: [{ custom_id: "a", params: { ...params, max_tokens: undefined } }] }, "requests[0].params.max_tokens"],
    [{ requests: [{ custom_id: "a", body: params }] }, "requests[0].body"],
    [{ requests: [{ custom_id: "a", params: { ...params, model: "a\0b" } }] }, "requests[0].params.model"],
    [{ requests: [] }, "requests"],
    [{ requests: [asks("a")], model: "fake-1" }, ""],
  ];
  for (const [body, field] of cases) {
    const { status, json } = await raw("POST", "", body);
    expect({ field, status, type: json.error.type }).toEqual({ field, status: 400, type: "invalid_request_error" });
    expect(json.error.message).toContain(field);
  }
});

test("an ambiguous member name is refused with both names, in the body and in a request", async () => {
  const { params } = asks("x");
  for (const [body, told] of [
    [{ requests: [asks("a")], Requests: [] }, '"Requests" and "requests"'],
    [{ requests: [asks("a"), { custom_id: "b", params: { ...params, Model: "b" } }] }, '"Model" and "model"'],
    [{ requests: [asks("a"), { custom_id: "b", params: { ...params, Model: "b" } }] }, "`requests[1].params.Model`"],
  ] as const) {
    const { status, json } = await raw("POST", "", body);
    expect([status, json.error.code, json.error.message]).toEqual([400, "ambiguous_name", expect.stringContaining(told)]);
  }
});

test("a batch in progress cannot be deleted and has no results; cancelled, it lists the messages that did not run", async () => {
  const made = await client.messages.batches.create({ requests: ["a", "b", "c"].map((name) => asks(name, "slow-down")) });
  for (const [method, path] of [
    ["DELETE", ""],
    ["GET", "/results"],
  ] as const)
    expect(await raw(method, `/${made.id}${path}`)).toMatchObject({ status: 409, json: { error: { code: "batch_under_way" } } });
  await client.messages.batches.cancel(made.id);
  const batch = await endedBatch(made.id);
  expect(batch.cancel_initiated_at).not.toBeNull();
  expect(batch.request_counts.canceled).toBeGreaterThan(0);
  expect((await resultsOf(made.id)).filter(({ result }) => result.type === "canceled")).toHaveLength(batch.request_counts.canceled);
  expect(await client.messages.batches.delete(made.id)).toEqual({ id: made.id, type: "message_batch_deleted" });
  expect((await raw("GET", `/${made.id}`)).status).toBe(404);
});

test.each(Object.keys(RUN_BY))(
  "a batch of messages that %s runs as a provider batch returns results in Anthropic's format",
  async (format) => {
    const made = await client.messages.batches.create({ requests: ["one", "fail", "late"].map((name) => saying(name, `${format}-1`)) });
    const batch = await endedBatch(made.id);
    expect(await jobOf(made.id)).toMatchObject({ mode: "provider", endpoint: "/v1/messages" });
    const late = format === "gemini" ? { errored: 2, expired: 0 } : { errored: 1, expired: 1 };
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 1, canceled: 0, ...late });
    expect(await resultsOf(made.id)).toMatchObject([
      { custom_id: "one", result: { type: "succeeded", message: { type: "message", content: [{ type: "text", text: "ONE" }] } } },
      { custom_id: "fail", result: { type: "errored", error: { type: "error", error: { type: "invalid_request_error" } } } },
      { custom_id: "late", result: format === "gemini" ? { type: "errored" } : { type: "expired" } },
    ]);
  },
);

test("anthropic-version and anthropic-beta headers of a batch apply to its messages, however they are run", async () => {
  const headers = { "anthropic-version": "2023-06-01" };
  const betas = ["context-1m-2025-08-07"];
  const made = await client.beta.messages.batches.create({ requests: [saying("beta", "anthropic-1")], betas }, { headers });
  await endedBatch(made.id);
  const told = vendors.get("anthropic")?.batches.map((batch) => batch.headers);
  expect(told).toContainEqual({ version: "2023-06-01", betas: "context-1m-2025-08-07" });
  const translated = await client.beta.messages.batches.create({ requests: [asks("beta")], betas }, { headers });
  await endedBatch(translated.id);
  const [row] = await rowsOf(world.admin, { parent_request_id: translated.id, proxy_subtype: "batch_line_anthropic_messages" }, 1);
  expect(row?.request_headers).toMatchObject({ "anthropic-beta": "context-1m-2025-08-07" });
  // An API version without sampling parameters refuses them in batched messages too.
  const cold = [{ custom_id: "cold", params: { ...asks("x").params, temperature: 0 } }];
  expect((await raw("POST", "", { requests: cold }, served.apiKey, "2026-10-21")).json.error.message).toContain(
    "requests[0].params.temperature",
  );
  expect((await raw("POST", "", { requests: cold }, served.apiKey)).status).toBe(200);
  expect((await raw("POST", "", { requests: cold }, served.apiKey, null)).status).toBe(200);
});
