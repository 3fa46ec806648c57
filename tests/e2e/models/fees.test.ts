import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What a vendor bills in addition to plain tokens is in the row's cost. */
const item = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
const SEARCHED = [
  { type: "response.created", response: { id: "resp_1", object: "response", status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
  { type: "response.output_item.done", output_index: 0, item },
  {
    type: "response.output_item.done",
    output_index: 1,
    item: { ...item, id: "ws_2", action: { type: "open_page", url: "https://a.example" } },
  },
  { type: "response.output_text.delta", item_id: "msg_1", output_index: 2, content_index: 0, delta: "Found." },
];

/** The events of an answer that never ends. */
function unended(events: readonly { readonly type: string }[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    },
  });
}

let world: World;
let vendor: FakeVendor;
let apiKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path }) =>
    path.endsWith("/responses")
      ? new Response(unended(SEARCHED), { headers: { "content-type": "text/event-stream" } })
      : path.endsWith(":generateContent")
        ? Response.json({
            candidates: [
              {
                content: { role: "model", parts: [{ text: "Found." }] },
                finishReason: "STOP",
                index: 0,
                groundingMetadata: { webSearchQueries: ["one", "two", "one"] },
              },
            ],
            usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
            modelVersion: "gemini-3.5-flash",
          })
        : path.endsWith("/messages")
          ? Response.json({
              id: "msg_1",
              type: "message",
              role: "assistant",
              model: "m",
              content: [{ type: "text", text: "Found." }],
              stop_reason: "end_turn",
              stop_sequence: null,
              usage: { input_tokens: 100, output_tokens: 10, server_tool_use: { web_search_requests: 2 } },
            })
          : Response.json({
              id: "c",
              object: "chat.completion",
              created: 1,
              model: "m",
              choices: [{ index: 0, message: { role: "assistant", content: "Heard." }, finish_reason: "stop" }],
              usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { audio_tokens: 60 } },
            }),
  );
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  for (const [provider_key, api_format, base_url] of [
    ["g", "gemini", `${vendor.origin}/v1beta`],
    ["a", "anthropic", vendor.origin],
    ["o", "openai", `${vendor.origin}/v1`],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url });
  const prices = { input_cost_per_million_tokens: 2, output_cost_per_million_tokens: 10 };
  const model = (name: string, provider: string, more: object) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name: "m", provider, group_ids: [group.id], ...prices, ...more });
  await model("searches", "a", { web_search_cost_per_thousand: 10 });
  await model("searches-unpriced", "a", {});
  await model("grounds", "g", { web_search_cost_per_thousand: 14 });
  await model("grounds-unpriced", "g", {});
  await model("hears", "o", { audio_input_cost_per_million_tokens: 32 });
  await model("looks-up-in-responses", "o", { modes: ["responses"], web_search_cost_per_thousand: 25 });
  await model("looks-up", "o", { web_search_cost_per_thousand: 25 });
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const post = (path: string, key: string, body: object) =>
  fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
const searching = {
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  tools: [{ googleSearch: {} }],
  generationConfig: { maxOutputTokens: 10 },
};

test.each([
  // 100 x $2 + 10 x $10 a million, and two searches at 1.4 cents.
  ["grounds", 0.0283],
  ["grounds-unpriced", null],
])("a call of model %s that searched with Google costs %p dollars", async (model, cost) => {
  const response = await post(`/v1beta/models/${model}:generateContent`, apiKey, searching);
  expect(response.status).toBe(200);
  expect((await rowOf(world.admin, { id: response.headers.get("x-request-id") })).llm_estimated_cost_usd).toBe(cost);
});

test("a hard budget holds the cost of the permitted searches, and refuses searches without a price", async () => {
  const { admin } = world;
  const team = (await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team")).resource_groups[0];
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: team.id });
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "careful", access_mode: "shared" });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.025, hard_stop: true } },
  });
  const message = (max_uses: number | undefined, model: string) =>
    post("/v1/messages", key, {
      model,
      max_tokens: 10,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "web_search_20250305", name: "web_search", ...(max_uses === undefined ? {} : { max_uses }) }],
    });
  // Three searches at a cent exceed what is left, whatever the tokens cost; two do not.
  expect([(await message(3, "searches")).status, (await message(2, "searches")).status]).toEqual([429, 200]);
  const unpriced = await message(1, "searches-unpriced");
  expect([unpriced.status, ((await unpriced.json()) as { error: { message: string } }).error.message]).toEqual([
    403,
    expect.stringContaining("no price for a search"),
  ]);
  const google = await post("/v1beta/models/grounds-unpriced:generateContent", key, searching);
  expect(google.status).toBe(403);
});

test.each([
  // 100 x $2 + 10 x $10 a million, and two searches at a cent.
  ["/v1/messages", "searches", 0.0203],
  ["/v1/messages", "searches-unpriced", null],
  // 40 x $2 + 60 x $32 + 10 x $10 a million.
  ["/v1/proxy/llm/chat/completions", "hears", 0.0021],
])("a call to %s of model %s costs %p dollars", async (path, model, cost) => {
  const response = await post(path, apiKey, { model, max_tokens: 10, messages: [{ role: "user", content: "Hi" }] });
  expect(response.status).toBe(200);
  expect((await rowOf(world.admin, { id: response.headers.get("x-request-id") })).llm_estimated_cost_usd).toBe(cost);
});

test("a hard budget holds the cost of a one-hour cache write even if no price is set for it", async () => {
  const { admin } = world;
  const team = (await admin.get("/v1/admin/resource-groups?tenant_id=default&search=team")).resource_groups[0];
  const { id } = await admin.post("/v1/admin/resource-groups", {
    tenant_id: "default",
    name: "keeps for an hour",
    parent_group_id: team.id,
  });
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, {
    name: "keeps for an hour",
    access_mode: "shared",
  });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.025, hard_stop: true } },
  });
  const message = (characters: number) =>
    post("/v1/messages", key, {
      model: "searches",
      max_tokens: 10,
      messages: [
        { role: "user", content: [{ type: "text", text: "x".repeat(characters), cache_control: { type: "ephemeral", ttl: "1h" } }] },
      ],
    });
  // At twice $2 a million, the first could cost more than four cents, the second up to two.
  expect([(await message(10_000)).status, (await message(5_000)).status]).toEqual([429, 200]);
});

test.each([
  // 100 x $2 + 10 x $10 a million, and one search per request of this kind at 2.5 cents.
  ["looks-up", { search_context_size: "low" }, 0.0253],
  ["looks-up", undefined, 0.0003],
  ["hears", {}, null],
])("a chat completion of model %s with the search options %p costs %p dollars", async (model, web_search_options, cost) => {
  for (const stream of [false, true]) {
    const messages = [{ role: "user", content: "Hi" }];
    const response = await post("/v1/proxy/llm/chat/completions", apiKey, { model, messages, web_search_options, stream });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Heard.")]);
    expect((await rowOf(world.admin, { id: response.headers.get("x-request-id") })).llm_estimated_cost_usd).toBe(cost);
  }
});

test("a search is charged even if the caller disconnects before the response ends", async () => {
  const response = await post("/v1/proxy/llm/responses", apiKey, {
    model: "looks-up-in-responses",
    input: "Hi",
    stream: true,
    store: false,
    tools: [{ type: "web_search" }],
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let text = ""; !text.includes("Found.");) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
  // Estimated: one token at $2 and two at $10 a million, plus the search; opening a page that it found is not another search.
  expect([row.error_type, row.tags, row.llm_estimated_cost_usd]).toEqual(["client_disconnected", ["usage_estimated"], 0.025022]);
});
