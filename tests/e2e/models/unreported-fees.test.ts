import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Answers of vendors' own tools whose provider reports no usage: their tokens are estimated, and the tools' fees are in the cost. */
const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
const output = [
  search,
  { id: "fs_1", type: "file_search_call", status: "completed", queries: ["q"], results: null },
  { id: "ci_1", type: "code_interpreter_call", status: "completed", code: "1", container_id: "c_1", outputs: null },
  { id: "ig_1", type: "image_generation_call", status: "completed", result: "aGk=" },
];
const content = [
  { type: "server_tool_use", id: "s_1", name: "web_search", input: { query: "q" } },
  { type: "server_tool_use", id: "s_2", name: "bash_code_execution", input: { command: "ls" } },
];
const grounded = {
  candidates: [
    {
      ...{ content: { role: "model", parts: [{ text: "Found." }] }, finishReason: "STOP", index: 0 },
      groundingMetadata: { webSearchQueries: ["one", "two"], groundingChunks: [{ maps: { uri: "https://maps.example", title: "t" } }] },
    },
  ],
  modelVersion: "gemini-3.5-flash",
};
const sse = (...events: { readonly [name: string]: unknown }[]) =>
  new Response(
    events.map((event) => `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`).join(""),
    { headers: { "content-type": "text/event-stream" } },
  );

const ANSWERS: Record<string, () => Response> = {
  responses: () => Response.json({ id: "resp_1", object: "response", status: "completed", output }),
  "responses streamed": () =>
    sse(...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })), {
      type: "response.completed",
      response: { id: "resp_1", object: "response", status: "completed", output },
    }),
  messages: () => Response.json({ id: "msg_1", type: "message", role: "assistant", model: "m", content, stop_reason: "end_turn" }),
  "messages streamed": () =>
    sse(
      { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] } },
      ...content.map((content_block, index) => ({ type: "content_block_start", index, content_block })),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ),
  generateContent: () => Response.json(grounded),
  "generateContent streamed": () => sse(grounded),
};

let world: World;
let vendor: FakeVendor;
let apiKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const format = path.includes("enerateContent") ? "generateContent" : path.endsWith("/messages") ? "messages" : "responses";
    const streamed = path.includes("stream") || (JSON.parse(body) as { stream?: boolean }).stream === true;
    return (ANSWERS[streamed ? `${format} streamed` : format] as () => Response)();
  });
  world = await startWorld();
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  for (const [provider_key, api_format, base_url] of [
    ["g", "gemini", `${vendor.origin}/v1beta`],
    ["a", "anthropic", vendor.origin],
    ["o", "openai", `${vendor.origin}/v1`],
  ]) {
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url });
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name: `of-${provider_key}`, model_name: "m", provider: provider_key, group_ids: [group.id] },
      ...{ input_cost_per_million_tokens: 0, output_cost_per_million_tokens: 0, web_search_cost_per_thousand: 10, image_cost: 0.04 },
      ...(provider_key === "o" && { modes: ["responses"] }),
    });
  }
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const tools = [
  { type: "web_search" },
  { type: "file_search", vector_store_ids: ["vs"] },
  { type: "code_interpreter", container: { type: "auto" } },
];

test.each([
  // A search, a file search, a container and a picture.
  ["/v1/proxy/llm/responses", { model: "of-o", input: "Hi", store: false, tools }, 0.01 + 0.0025 + 0.03 + 0.04],
  // A search; code that runs next to a web tool is free.
  ["/v1/messages", { model: "of-a", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] }, 0.01],
  // Two queries of maps.
  ["/v1beta/models/of-g:generateContent", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }, 2 * 0.014],
])("an answer on %s without usage costs what its vendor's tools cost, whole and streamed", async (path, body, cost) => {
  const isGoogle = path.includes("generateContent");
  for (const stream of [false, true]) {
    const response = await fetch(
      `${world.gateway.runtimeUrl}${isGoogle && stream ? path.replace("generate", "streamGenerate") + "?alt=sse" : path}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
        body: JSON.stringify(isGoogle ? body : { ...body, stream }),
      },
    );
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
    expect([row.tags, row.llm_estimated_cost_usd]).toEqual([["usage_estimated"], expect.closeTo(cost, 6)]);
  }
});
