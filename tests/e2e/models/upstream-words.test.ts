import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A provider's own error message reaches the caller in the provider's words, once. */
const event = (data: Record<string, unknown>, name: string | null = null) =>
  `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: unknown) =>
  event({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] });
const response = { id: "resp_1", object: "response", status: "in_progress", output: [], error: null };

const STREAMS: Readonly<Record<string, string>> = {
  "/v1/chat/completions":
    chunk({ role: "assistant", content: "Half" }) +
    event({ error: { message: "The vendor gave up.", type: "server_error", code: "overloaded" } }),
  "/v1/responses":
    event({ type: "response.created", response, sequence_number: 0 }, "response.created") +
    event(
      {
        type: "response.failed",
        response: { ...response, status: "failed", error: { code: "server_error", message: "The vendor gave up." } },
        sequence_number: 1,
      },
      "response.failed",
    ),
  "/cut/v1/responses":
    event({ type: "response.created", response, sequence_number: 0 }, "response.created") +
    event({ type: "response.in_progress", response, sequence_number: 1 }, "response.in_progress"),
  "/v1/messages":
    event(
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      "message_start",
    ) + event({ type: "error", error: { type: "overloaded_error", message: "The vendor gave up." } }, "error"),
  "/v1beta/models/m:streamGenerateContent":
    event({ candidates: [{ content: { role: "model", parts: [{ text: "Half" }] }, index: 0 }] }) +
    event({ error: { code: 503, message: "The vendor gave up.", status: "UNAVAILABLE" } }),
};

let world: World;
let vendor: FakeVendor;
let apiKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path }) => {
    const stream = STREAMS[path.split("?")[0] ?? ""];
    if (stream !== undefined) return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    // An embeddings answer that begins and never ends.
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }), {
      headers: { "content-type": "application/json" },
    });
  });
  world = await startWorld({ GW_UPSTREAM_TIMEOUT_SECONDS: "5" });
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  const provider = (provider_key: string, api_format: string, base_url: string, more = {}) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, ...more });
  await provider("fake-openai", "openai", `${vendor.origin}/v1`);
  await provider("fake-cut", "openai", `${vendor.origin}/cut/v1`);
  await provider("fake-anthropic", "anthropic", vendor.origin);
  await provider("fake-gemini", "gemini", vendor.origin);
  await provider("fake-bedrock", "bedrock", vendor.origin, { api_key: "bearer" });
  await provider("fake-vertex", "vertex", `${vendor.origin}/v1/projects/p/locations/global`, { api_key: "bearer" });
  const model = (name: string, owner: string, modes: readonly string[], model_name = "m") =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name, provider: owner, modes, group_ids: [group.id] });
  await model("openai", "fake-openai", ["chat", "responses"]);
  await model("cut", "fake-cut", ["responses"]);
  await model("anthropic", "fake-anthropic", ["chat"]);
  await model("gemini", "fake-gemini", ["chat"]);
  await model("bedrock-embed", "fake-bedrock", ["embedding"], "amazon.titan-embed-text-v2:0");
  await model("vertex-embed", "fake-vertex", ["embedding"]);
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

function call(path: string, body: unknown): Promise<Response> {
  return fetch(`${world.gateway.runtimeUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
}

const messages = [{ role: "user", content: "Hi" }];
const contents = [{ role: "user", parts: [{ text: "Hi" }] }];

describe("a stream that its provider ends with an error", () => {
  test.each([
    [
      "/v1/proxy/llm/chat/completions",
      { model: "openai", messages, stream: true, stream_options: { include_usage: true } },
      "/v1/chat/completions",
    ],
    ["/v1/proxy/llm/responses", { model: "openai", input: "Hi", stream: true }, "/v1/responses"],
    ["/v1/messages", { model: "anthropic", max_tokens: 5, messages, stream: true }, "/v1/messages"],
    ["/v1beta/models/gemini:streamGenerateContent?alt=sse", { contents }, "/v1beta/models/m:streamGenerateContent"],
  ])("%s: passes byte for byte, and nothing is added", async (path, body, upstream) => {
    const answer = await call(path, body);
    expect(await answer.text()).toBe(STREAMS[upstream] ?? "");
    expect(await rowOf(world.admin, { id: answer.headers.get("x-request-id") })).toMatchObject({
      success: false,
      error_type: "upstream_interrupted",
    });
  });

  test.each([
    ["/v1/proxy/llm/chat/completions", { model: "anthropic", messages, stream: true }],
    ["/v1/proxy/llm/responses", { model: "gemini", input: "Hi", stream: true }],
    ["/v1/messages", { model: "openai", max_tokens: 5, messages, stream: true }],
    ["/v1beta/models/anthropic:streamGenerateContent?alt=sse", { contents }],
  ])("%s: has the vendor's error message once when translated", async (path, body) => {
    const answer = await call(path, body);
    const text = await answer.text();
    expect(text.split("\n\n").filter((frame) => frame.includes("The vendor gave up."))).toHaveLength(1);
    expect(text).not.toContain("upstream_interrupted");
  });

  test("continues the sequence numbers in the gateway's own error event", async () => {
    const text = await (await call("/v1/proxy/llm/responses", { model: "cut", input: "Hi", stream: true })).text();
    expect(text).toContain("upstream_interrupted");
    expect([...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => number)).toEqual(["0", "1", "2"]);
  });

  test("stays one JSON array", async () => {
    const answer = await call("/v1beta/models/anthropic:streamGenerateContent", { contents });
    const elements = (await answer.json()) as { error?: { message: string } }[];
    expect(elements.map(({ error }) => error?.message)).toContain("The vendor gave up.");
  });
});

test.each(["bedrock-embed", "vertex-embed"])("an embedding answer that never ends times out (%s)", async (model) => {
  const answer = await call("/v1/proxy/llm/embeddings", { model, input: ["Hello"] });
  expect(answer.status).toBe(504);
  expect(await answer.json()).toMatchObject({ code: "upstream_timeout" });
});
