import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What vendors bill for tools that they run themselves, in addition to tokens and web searches. */
const OUTPUT = [
  { id: "fs_1", type: "file_search_call", status: "completed", queries: ["q"], results: null },
  { id: "fs_2", type: "file_search_call", status: "completed", queries: ["r"], results: null },
  { id: "ci_1", type: "code_interpreter_call", status: "completed", container_id: "cntr_1", code: "1", outputs: [] },
  { id: "ci_2", type: "code_interpreter_call", status: "completed", container_id: "cntr_1", code: "2", outputs: [] },
  { id: "ig_1", type: "image_generation_call", status: "completed", result: "iVBORw0KGgo=" },
  { id: "ig_2", type: "image_generation_call", status: "failed", result: null },
  {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Done.", annotations: [] }],
  },
];
const USAGE = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const TOOLS = [
  { type: "file_search", vector_store_ids: ["vs_1"] },
  { type: "code_interpreter", container: { type: "auto", memory_limit: "4g" } },
  { type: "image_generation" },
];
const CODE = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "bash_code_execution", input: { command: "ls" } },
  { type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_1", content: { type: "bash_code_execution_result", stdout: "" } },
  { type: "text", text: "Done." },
];
const event = (value: { readonly type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const response = (output: readonly object[], status = "completed", usage: object | null = USAGE) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, status, model: "m", output, tools: TOOLS, usage },
});

let world: World;
let vendor: FakeVendor;
let apiKey: string;
let groupId: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const { stream } = JSON.parse(body || "{}") as { stream?: boolean };
    if (path.includes(":generateContent"))
      return Response.json({
        candidates: [
          {
            content: { role: "model", parts: [{ text: "Here." }] },
            finishReason: "STOP",
            groundingMetadata: { groundingChunks: [{ maps: { uri: "https://maps.example", title: "A place" } }] },
          },
        ],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
        modelVersion: "gemini-3.5-flash",
      });
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null };
    const used = { input_tokens: 100, output_tokens: 10 };
    if (path.endsWith("/messages") && stream === true)
      return new Response(
        [
          { type: "message_start", message: { ...message, stop_reason: null, content: [], usage: { ...used, output_tokens: 1 } } },
          ...CODE.flatMap((block, index) => [
            { type: "content_block_start", index, content_block: block },
            { type: "content_block_stop", index },
          ]),
          { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 10 } },
          { type: "message_stop" },
        ]
          .map(event)
          .join(""),
        { headers: { "content-type": "text/event-stream" } },
      );
    if (path.endsWith("/messages")) return Response.json({ ...message, content: CODE, usage: used });
    if (stream !== true) return Response.json(response(OUTPUT));
    return new Response(
      [
        { type: "response.created", response: response([], "in_progress", null) },
        ...OUTPUT.map((item, at) => ({ type: "response.output_item.done", output_index: at, item })),
        { type: "response.completed", response: response(OUTPUT) },
      ]
        .map(event)
        .join(""),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  for (const [provider_key, api_format, base_url] of [
    ["g", "gemini", `${vendor.origin}/v1beta`],
    ["a", "anthropic", vendor.origin],
    ["o", "openai", `${vendor.origin}/v1`],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url });
  const prices = { input_cost_per_million_tokens: 2, output_cost_per_million_tokens: 10 };
  const model = (name: string, provider: string, more: object) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name: "m", provider, group_ids: [groupId], ...prices, ...more });
  const modes = ["responses"];
  await model("files", "o", { modes, image_cost: 0.04 });
  await model("draws-unpriced", "o", { modes });
  await model("set", "o", {
    modes,
    tool_prices: ["file_search", "code_interpreter", "image_generation"].map((tool, at) => ({ tool, usd_per_thousand: at })),
  });
  await model("code", "a", {});
  await model("maps", "g", {});
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "key", access_mode: "shared" }));
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
const costOf = async (answer: Response) => {
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  return (await rowOf(world.admin, { id: answer.headers.get("x-request-id") })).llm_estimated_cost_usd;
};
const TOKENS = 0.0003;

test.each([
  // Two searches at a quarter of a cent, a container of 4 GB (four times three cents), and one picture at four.
  ["files", TOKENS + 2 * 0.0025 + 4 * 0.03 + 0.04],
  // Four searches at a tenth of a cent, and a picture at two.
  ["set", TOKENS + 4 * 0.001 + 0.002],
  ["draws-unpriced", null],
])("a response of %s that used its vendor's tools costs %p dollars, streamed or not", async (model, cost) => {
  for (const stream of [false, true]) {
    const told = await costOf(await post("/v1/proxy/llm/responses", apiKey, { model, input: "Hi", tools: TOOLS, stream, store: false }));
    if (cost === null) expect(told).toBeNull();
    else expect(told).toBeCloseTo(cost, 9);
  }
});

test("code execution in a message is charged, streamed or not, and so is grounding with Google Maps", async () => {
  for (const stream of [false, true])
    expect(
      await costOf(
        await post("/v1/messages", apiKey, {
          ...{ model: "code", max_tokens: 10, stream, messages: [{ role: "user", content: "Hi" }] },
          tools: [{ type: "code_execution_20250825", name: "code_execution" }],
        }),
      ),
    ).toBeCloseTo(TOKENS + 0.00417, 9);
  expect(
    await costOf(
      await post("/v1beta/models/maps:generateContent", apiKey, {
        contents: [{ role: "user", parts: [{ text: "Hi" }] }],
        tools: [{ googleMaps: {} }],
      }),
    ),
  ).toBeCloseTo(TOKENS + 0.014, 9);
});

test("a hard budget holds the cost of the offered tools, and refuses image generation without a price", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "careful", access_mode: "shared" });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.2, hard_stop: true } },
  });
  const ask = async (model: string, tools: readonly object[], more: object = {}) =>
    (await post("/v1/proxy/llm/responses", key, { model, input: "Hi", max_output_tokens: 10, tools, store: false, ...more })).status;
  const container = (memory_limit: string) => [{ type: "code_interpreter", container: { type: "auto", memory_limit } }];
  // 64 GB cost 64 times three cents; a hundred searches cost a quarter of a dollar.
  expect(await ask("files", container("64g"))).toBe(429);
  expect(await ask("files", [TOOLS[0] as object], { max_tool_calls: 100 })).toBe(429);
  expect(await ask("draws-unpriced", [{ type: "image_generation" }])).toBe(403);
  expect(await ask("files", container("1g"))).toBe(200);
});
