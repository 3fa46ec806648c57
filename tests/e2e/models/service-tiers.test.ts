import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { fakeVendor, type VendorRequest } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Vendors that serve a call faster or later charge another price for it: rows and budgets use the price of the tier it was served in. */

const PRICED = { input_cost_per_million_tokens: 2, output_cost_per_million_tokens: 10 };
const GROUPS = "/v1/admin/resource-groups";
/** 1,000 input tokens and 100 output tokens: $0.002 + $0.001. */
const USUAL = 0.003;

/** Answers in the path's format and reports the tier that the message names, or none if it names none. */
const vendor = fakeVendor((request) => answerOf(request));
let world: World;
let groupId: string;
let key: string;

function answerOf({ path, body }: VendorRequest): Response {
  const told = /told:(\w+)/.exec(body)?.[1];
  const events = (frames: unknown[]) =>
    new Response([...frames.map((one) => JSON.stringify(one)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  const named = (all: { type: string }[]) =>
    new Response(all.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  const tier = told === undefined ? {} : { service_tier: told };
  const streamed = body.includes('"stream":true');
  if (path.includes("/messages")) {
    const usage = {
      input_tokens: 1_000,
      output_tokens: 100,
      ...(told?.startsWith("geo") ? { inference_geo: told.slice(3) } : told && { speed: told }),
    };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "Yes" }] };
    if (!streamed) return Response.json({ ...message, stop_reason: "end_turn", stop_sequence: null, usage });
    return named([
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } } as {
        type: string;
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as { type: string },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes" } } as { type: string },
      { type: "content_block_stop", index: 0 } as { type: string },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 100 } } as { type: string },
      { type: "message_stop" },
    ]);
  }
  if (path.includes("enerateContent"))
    return Response.json({
      candidates: [{ content: { role: "model", parts: [{ text: "Yes" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100, ...(told && { serviceTier: told }) },
    });
  if (path.includes("/responses")) {
    const usage = { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 };
    const output = [
      {
        type: "message",
        id: "m1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Yes", annotations: [] }],
      },
    ];
    const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output, usage, ...tier };
    if (!streamed) return Response.json(response);
    if (body.includes("breaks off"))
      return named([
        { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } } as { type: string },
        { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m1", delta: "Yes" } as { type: string },
      ]);
    return named([
      { type: "response.created", response: { ...response, service_tier: "auto", status: "in_progress", output: [], usage: null } } as {
        type: string;
      },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m1", delta: "Yes" } as { type: string },
      { type: "response.completed", response } as { type: string },
    ]);
  }
  const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
  if (body.includes("breaks off")) {
    const begun = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", ...tier };
    const text = { ...begun, service_tier: undefined, choices: [{ index: 0, delta: { content: "Yes" }, finish_reason: null }] };
    const first = { ...begun, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
    return new Response([first, text].map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  }
  const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", ...tier };
  if (streamed)
    return events([
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: { content: "Yes" }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      // Some report it only at the beginning of the answer.
      { ...chunk, service_tier: undefined, choices: [], usage },
    ]);
  const message = { role: "assistant", content: "Yes" };
  return Response.json({ ...chunk, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
}

beforeAll(async () => {
  world = await startWorld();
  ({ groupId, apiKey: key } = await serveModels(world.admin, `${vendor.origin}/v1`, [
    { name: "gpt", ...PRICED },
    { name: "responds", ...PRICED, mode: "responses", modes: ["responses"] },
    {
      name: "priced",
      ...PRICED,
      service_tier_prices: [
        { service_tier: "priority", input_cost_per_million_tokens: 4, output_cost_per_million_tokens: 20 },
        { service_tier: "flex", price_factor: 0.5 },
      ],
    },
  ]));
  await world.admin.post("/v1/admin/llms", {
    ...{ tenant_id: "default", name: "of a fast project", mode: "chat", provider: "fake", group_ids: [groupId], ...PRICED },
    service_tier_prices: [{ service_tier: "priority", is_default: true }],
  });
  for (const format of ["anthropic", "gemini"]) {
    const base_url = format === "gemini" ? `${vendor.origin}/v1beta` : `${vendor.origin}/v1`;
    await world.admin.post("/v1/admin/providers", {
      tenant_id: "default",
      provider_key: format,
      name: format,
      api_format: format,
      base_url,
      api_key: "k",
    });
    await world.admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name: format,
      mode: "chat",
      provider: format,
      group_ids: [groupId],
      ...PRICED,
    });
  }
});
afterAll(async () => {
  await vendor.stop();
  await world.end();
});

async function ask(path: string, body: object, apiKey = key) {
  const response = await fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, id: response.headers.get("x-request-id") };
}

const CHAT = "/v1/proxy/llm/chat/completions";
const said = (told: string | null) => (told === null ? "hi" : `hi told:${told}`);
const chat = (model: string, told: string | null, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: said(told) }],
  ...more,
});
const message = (told: string | null, more: object = {}) => ({ ...chat("anthropic", told), max_tokens: 100, ...more });
const gemini = (told: string | null, more: object = {}) => ({ contents: [{ role: "user", parts: [{ text: said(told) }] }], ...more });
const responses = (told: string | null, more: object = {}) => ({ model: "gpt", input: said(told), ...more });

const GEMINI = "/v1beta/models/gemini:generateContent";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/proxy/llm/responses";
const STREAM = { stream: true };

test.each([
  // The tier in the answer counts, whatever was requested.
  ["the default tier in the answer though priority was requested", CHAT, chat("gpt", "default", { service_tier: "priority" }), 1, null],
  ["the priority tier, by the vendor's known factor", CHAT, chat("gpt", "priority"), 2.5, "priority"],
  ["the priority tier of a stream", CHAT, chat("gpt", "priority", STREAM), 2.5, "priority"],
  ["the highest-priced tier of a stream", CHAT, chat("gpt", "ultrafast", STREAM), 6, "ultrafast"],
  ["a tier price in the model's record", CHAT, chat("priced", "priority"), 2, "priority"],
  ["a cheaper tier without a price", CHAT, chat("gpt", "flex"), 1, "flex"],
  ["a cheaper tier with a price", CHAT, chat("priced", "flex"), 0.5, "flex"],
  ["an unknown tier", CHAT, chat("gpt", "gold"), 1, "gold"],
  // The requested tier counts if the answer names none.
  ["the requested tier if the answer names none", CHAT, chat("gpt", null, { service_tier: "fast" }), 2.5, "priority"],
  ["the requested tier if the stream names none", CHAT, chat("gpt", null, { service_tier: "priority", ...STREAM }), 2.5, "priority"],
  ["no tier in request or answer", CHAT, chat("gpt", null, { service_tier: "auto" }), 1, null],
  ["a response", RESPONSES, responses("priority"), 2.5, "priority"],
  ["a streamed response", RESPONSES, responses("priority", STREAM), 2.5, "priority"],
  ["a message", MESSAGES, message("fast"), 2, "fast"],
  ["a streamed message", MESSAGES, message("fast", STREAM), 2, "fast"],
  ["a message requested as fast but served as standard", MESSAGES, message("standard", { speed: "fast" }), 1, null],
  ["a message with an inference region", MESSAGES, message("geous"), 1.1, "inference_geo_us"],
  ["a fast message with an inference region", MESSAGES, message("geous", { speed: "fast" }), 2.2, "fast inference_geo_us"],
  ["a Gemini answer", GEMINI, gemini("priority"), 2, "priority"],
  ["a Gemini request, if the answer names no tier", GEMINI, gemini(null, { serviceTier: "PRIORITY" }), 2, "priority"],
  ["a translated request whose tier the other format lacks", MESSAGES, { ...message(null), model: "gpt", speed: "fast" }, 1, null],
  ["a translated answer", MESSAGES, { ...message("priority"), model: "gpt" }, 2.5, "priority"],
  ["a translated stream", MESSAGES, { ...message("priority", STREAM), model: "gpt" }, 2.5, "priority"],
])("a call is charged the price of its service tier: %s", async (_name, path, body, factor, tier) => {
  const { status, text, id } = await ask(path, body);
  expect([status, text.includes("Yes")]).toEqual([200, true]);
  const row = await rowOf(world.admin, { id });
  expect(row.llm_estimated_cost_usd).toBeCloseTo(USUAL * factor, 9);
  expect(row.custom_metadata?.service_tier ?? null).toBe(tier);
});

test.each([
  ["chat completion", CHAT, chat("gpt", null, STREAM)],
  ["chat completion translated to a message", MESSAGES, { ...message(null, STREAM), model: "gpt" }],
  ["response translated to a message", MESSAGES, { ...message(null, STREAM), model: "responds" }],
])("an interrupted stream is charged at the tier that its first chunk names: %s", async (_name, path, body) => {
  const costs = [];
  for (const told of ["default", "priority"]) {
    const { id } = await ask(path, { ...body, messages: [{ role: "user", content: `breaks off told:${told} ${"x".repeat(4_000)}` }] });
    const row = await rowOf(world.admin, { id });
    expect([row.error_type, row.tags]).toEqual(["upstream_interrupted", ["usage_estimated"]]);
    costs.push(row.llm_estimated_cost_usd);
  }
  expect(costs[1] / costs[0]).toBeCloseTo(2.5, 2);
});

async function teamWith(daily_limit_usd: number): Promise<string> {
  const { id } = await world.admin.post(GROUPS, { tenant_id: "default", name: crypto.randomUUID(), parent_group_id: groupId });
  const { key_value } = await world.admin.post(`${GROUPS}/${id}/api-keys`, { name: "k" });
  const limits = { llm_global_limits: { budget: { daily_limit_usd, hard_stop: true } } };
  expect((await world.admin.request("PATCH", `${GROUPS}/${id}/llm-global-limits`, limits)).status).toBe(200);
  return key_value;
}

test("a Gemini request with both spellings of the service tier is refused", async () => {
  const { status, text } = await ask(GEMINI, gemini(null, { serviceTier: "priority", service_tier: "standard" }));
  expect([status, text]).toEqual([400, expect.stringContaining("service_tier")]);
});

test("a budget holds the worst case in the requested tier, and at least the default price", async () => {
  const asks = async (model: string, service_tier: string | undefined, limit: number) =>
    (await ask(CHAT, chat(model, "default", { max_tokens: 1_000, ...(service_tier && { service_tier }) }), await teamWith(limit))).status;
  // 1,000 output tokens cost $0.01 in the default tier, $0.025 in the priority tier, and $0.02 at prices of its own.
  expect(await asks("gpt", undefined, 0.015)).toBe(200);
  expect(await asks("gpt", "priority", 0.015)).toBe(429);
  expect(await asks("gpt", "priority", 0.03)).toBe(200);
  expect(await asks("priced", "priority", 0.022)).toBe(200);
  expect(await asks("priced", "flex", 0.007)).toBe(429);
});

test("a budget holds the account's default tier for requests that leave the tier open, and for no others", async () => {
  const asks = async (more: object, limit: number) =>
    (await ask(CHAT, chat("of a fast project", "default", { max_tokens: 1_000, ...more }), await teamWith(limit))).status;
  expect([await asks({}, 0.015), await asks({ service_tier: "auto" }, 0.015), await asks({}, 0.03)]).toEqual([429, 429, 200]);
  expect([await asks({ service_tier: "default" }, 0.015), await asks({ service_tier: "flex" }, 0.015)]).toEqual([200, 200]);
  const { id } = await ask(CHAT, chat("of a fast project", "priority"));
  expect((await rowOf(world.admin, { id })).llm_estimated_cost_usd).toBeCloseTo(USUAL * 2.5, 9);
});

test("an answer without an output limit is limited to what is left of the budget in the requested tier", async () => {
  const bound = async (service_tier: string) => {
    expect((await ask(CHAT, chat("gpt", "default", { service_tier }), await teamWith(0.025))).status).toBe(200);
    const sent = JSON.parse(vendor.seen.at(-1)?.body ?? "{}");
    return Number(sent.max_completion_tokens ?? sent.max_tokens);
  };
  const [usual, dear] = [await bound("default"), await bound("priority")];
  expect(usual).toBeGreaterThan(2_400);
  expect(dear).toBeGreaterThan(900);
  expect(dear).toBeLessThan(1_000);
});

test("fifty concurrent calls in a higher-priced tier do not exceed their budget", async () => {
  const limit = 0.1;
  const apiKey = await teamWith(limit);
  const body = {
    ...chat("gpt", null, { max_tokens: 100, service_tier: "priority" }),
    messages: [{ role: "user", content: `told:priority ${"x ".repeat(600)}` }],
  };
  const replies = await Promise.all(Array.from({ length: 50 }, () => ask(CHAT, body, apiKey)));
  const served = replies.filter(({ status }) => status === 200);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const rows = await Promise.all(served.map(({ id }) => rowOf(world.admin, { id })));
  const spent = rows.reduce((sum: number, row: { llm_estimated_cost_usd: number }) => sum + row.llm_estimated_cost_usd, 0);
  expect(spent).toBeLessThanOrEqual(limit);
  expect(spent).toBeGreaterThan(limit * 0.8);
});

test("service tier prices are read, changed and validated like other prices", async () => {
  const { id } = await world.admin.post("/v1/admin/llms", { tenant_id: "default", name: "own", mode: "chat", provider: "fake", ...PRICED });
  const service_tier_prices = [
    {
      service_tier: "priority",
      price_factor: 1.8,
      is_default: true,
      price_tiers: [{ above_input_tokens: 5, input_cost_per_million_tokens: 9 }],
    },
  ];
  expect((await world.admin.request("PATCH", `/v1/admin/llms/${id}`, { service_tier_prices })).body).toMatchObject({
    ...PRICED,
    service_tier_prices,
  });
  expect(await world.admin.get(`/v1/admin/llms/${id}`)).toMatchObject({ service_tier_prices });
  for (const [wrong, field] of [
    [[{ service_tier: "Priority" }], "service_tier_prices.0.service_tier"],
    [[{ service_tier: "standard" }], "service_tier_prices.0.service_tier"],
    [[{ service_tier: "flex", price_factor: -1 }], "service_tier_prices.0.price_factor"],
    [[{ service_tier: "flex" }, { service_tier: "flex" }], "service_tier_prices"],
    [["flex", "priority"].map((service_tier) => ({ service_tier, is_default: true })), "service_tier_prices"],
  ]) {
    const { status, body } = await world.admin.request("PATCH", `/v1/admin/llms/${id}`, { service_tier_prices: wrong });
    expect([status, JSON.stringify(body.fields)]).toEqual([400, expect.stringContaining(field as string)]);
  }
});
