import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Reranking with models in the formats of Cohere, Voyage and Bedrock, over fake vendors. */
let world: World;
let vendor: FakeVendor;
let groupId: string;
let apiKey: string;

const DOCUMENTS = ["Lamps are lit.", "Write to jane.doe@example.com", "A third."];

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const asked = JSON.parse(body);
    if (path.startsWith("/voyage"))
      return Response.json({ object: "list", data: [{ index: 1, relevance_score: 0.9 }], model: asked.model, usage: { total_tokens: 50 } });
    if (asked.model === "down") return Response.json({ message: "down" }, { status: 503 });
    if (asked.model === "poem") return Response.json({ text: "no results" });
    const results = [
      { index: 2, relevance_score: 0.8 },
      { index: 0, relevance_score: 0.1 },
    ];
    if (path.startsWith("/model/")) {
      if (asked.query === "refuse") return Response.json({ message: "secret words of the provider" }, { status: 400 });
      return Response.json({ results: asked.query === "beyond" ? [{ index: 3, relevance_score: 1 }] : results });
    }
    return Response.json({ id: "r-1", results, meta: { api_version: { version: "2" }, billed_units: { search_units: 3 } } });
  });
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  for (const [provider_key, api_format, base_url, api_key] of [
    ["c", "openai", `${vendor.origin}/compatibility/v1`, "vendor-secret-0001"],
    ["v", "openai", `${vendor.origin}/voyage/v1`, "vendor-secret-0002"],
    ["b", "bedrock", vendor.origin, "vendor-secret-0003"],
    ["a", "anthropic", vendor.origin, "vendor-secret-0004"],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key });
  const spare = await admin.post("/v1/admin/llm-router/routing-groups", {
    tenant_id: "default",
    id: "spare",
    mode: "rerank",
    routing_strategy: "ordered",
  });
  const units = { search_unit_cost_per_thousand: 2 };
  for (const [name, model_name, provider, more] of [
    ["ranks", "rerank-v4.0", "c", units],
    ["ranks-tokens", "rerank-2.5", "v", { input_cost_per_million_tokens: 100 }],
    ["ranks-unpriced", "rerank-v4.0", "c", {}],
    ["ranks-bedrock", "cohere.rerank-v3-5:0", "b", units],
    ["ranks-poem", "poem", "c", units],
    ["ranks-not", "claude", "a", {}],
    ["first", "down", "c", { ...units, routing_group_id: "spare", routing_weight: 2 }],
    ["second", "rerank-v4.0", "c", { ...units, routing_group_id: "spare", routing_weight: 1 }],
    ["talks", "chat-1", "c", { mode: "chat" }],
  ] as const)
    await admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name, provider, mode: "rerank", group_ids: [groupId], ...more });
  await admin.post(`/v1/admin/resource-groups/${groupId}/llm-models`, { model_ids: [spare.model_id] });
  apiKey = await newKey(groupId);
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function newKey(group: string): Promise<string> {
  return (await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
}

const sent = () => ({ path: vendor.seen.at(-1)?.path, body: JSON.parse(vendor.seen.at(-1)?.body ?? "null") });
const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });

function rank(model: string, more: object = {}, { path = "/rerank", key = apiKey } = {}): Promise<Response> {
  return fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, query: "Where are lamps?", documents: DOCUMENTS, ...more }),
  });
}

test("rerank works in Cohere's API at every version's path, and is charged by search units", async () => {
  for (const path of ["/rerank", "/v1/rerank", "/v2/rerank"]) {
    const response = await rank("ranks", { top_n: 2, max_tokens_per_doc: 100 }, { path });
    expect(await response.json()).toMatchObject({ id: "r-1", results: [{ index: 2 }, { index: 0 }] });
    expect(sent()).toEqual({
      path: "/v2/rerank",
      body: { model: "rerank-v4.0", query: "Where are lamps?", documents: DOCUMENTS, top_n: 2, max_tokens_per_doc: 100 },
    });
    expect(await rowBy(response)).toMatchObject({
      proxy_type: "llm",
      proxy_subtype: "rerank",
      llm_model_used: "ranks",
      llm_estimated_cost_usd: 0.006,
      tags: ["usage_estimated"],
    });
  }
});

test("a provider that reports tokens is charged by them, also in Voyage's format", async () => {
  const response = await rank("ranks-tokens", { top_k: 1, return_documents: true });
  expect(await response.json()).toMatchObject({ data: [{ index: 1 }] });
  expect(sent().body).toMatchObject({ top_k: 1, return_documents: true });
  expect(await rowBy(response)).toMatchObject({ llm_prompt_tokens: 50, llm_completion_tokens: 0, llm_estimated_cost_usd: 0.005 });
});

test("rerank models on Bedrock are called in Bedrock's format", async () => {
  const response = await rank("ranks-bedrock", { top_n: 2, return_documents: true, documents: [{ text: "One" }, "Two", "Three"] });
  expect(await response.json()).toEqual({
    results: [
      { index: 2, relevance_score: 0.8, document: { text: "Three" } },
      { index: 0, relevance_score: 0.1, document: { text: "One" } },
    ],
  });
  expect(sent()).toEqual({
    path: "/model/cohere.rerank-v3-5%3A0/invoke",
    body: { query: "Where are lamps?", documents: ["One", "Two", "Three"], top_n: 2, api_version: 2 },
  });
  expect(await rowBy(response)).toMatchObject({ llm_estimated_cost_usd: 0.002, tags: ["usage_estimated"] });

  const refused = await rank("ranks-bedrock", { query: "refuse" });
  expect([refused.status, await refused.text()]).toEqual([400, expect.not.stringContaining("secret words")]);
  expect((await rank("ranks-bedrock", { query: "beyond" })).status).toBe(502);
  expect(await (await rank("ranks-bedrock", { documents: [{ title: "no text" }] })).json()).toMatchObject({
    error: expect.stringContaining("`documents`"),
  });
});

test("a routing group falls back to another member for rerank", async () => {
  const response = await rank("spare");
  expect(response.status).toBe(200);
  expect(await rowBy(response)).toMatchObject({ llm_model_used: "second", llm_used_fallback: true });
});

test("invalid requests are refused by field, an invalid answer becomes 502, and a wrong kind of model gets 400", async () => {
  for (const [more, field] of [
    [{ query: "" }, "query"],
    [{ documents: [] }, "documents"],
    [{ documents: ["a", 1] }, "documents"],
    [{ top_n: 0 }, "top_n"],
    [{ top_k: "all" }, "top_k"],
  ] as const) {
    const response = await rank("ranks", more);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(field)]);
  }
  expect((await rank("ranks-poem")).status).toBe(502);
  expect([(await rank("talks")).status, (await rank("ranks-not")).status]).toEqual([400, 400]);
});

test("a hard budget holds the highest possible charge, and refuses a model without a price", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "poor", group_type: "team" });
  const models = (await admin.get("/v1/admin/llms?tenant_id=default&page_size=100")).llms;
  for (const { id: modelId, name } of models)
    if (name === "ranks" || name === "ranks-unpriced")
      await admin.request("PATCH", `/v1/admin/llms/${modelId}`, { group_ids: [groupId, id] });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.01, hard_stop: true } },
  });
  const key = await newKey(id);
  const before = vendor.seen.length;
  // Five units of documents cost 0.01, one more exceeds the budget.
  const many = await rank("ranks", { documents: Array.from({ length: 501 }, () => "short") }, { key });
  const unpriced = await rank("ranks-unpriced", {}, { key });
  expect([many.status, unpriced.status, vendor.seen.length]).toEqual([429, 403, before]);
  expect((await rank("ranks", {}, { key })).status).toBe(200);
});

test("guardrails inspect the query and every document", async () => {
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "no addresses",
    enabled: true,
    group_ids: [groupId],
    surfaces: { embeddings_input: true },
    builtin: { pii_enabled: true, pii_action: "redact", pii_categories: ["email"] },
  });
  await rank("ranks", {
    query: "jane.doe@example.com",
    documents: [...DOCUMENTS, { user: "jane.doe@example.com", rows: [["jane.doe@example.com"]] }],
  });
  expect(JSON.stringify(sent().body)).not.toContain("jane.doe");
  expect(sent().body.documents).toHaveLength(4);
});
