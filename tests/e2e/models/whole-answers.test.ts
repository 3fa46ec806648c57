import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { type FakeVendor, fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { SURFACES } from "../../support/formats/inbound-surfaces.ts";
import { providerAnswer } from "../../support/formats/provider-answers.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Providers that cannot stream: a caller who asked for a stream still gets one. */
const TARGETS = [
  { model: "own", apiFormat: "openai", modes: ["chat", "responses", "completion"], baseUrl: (origin: string) => `${origin}/v1` },
  { model: "chat-only", apiFormat: "openai", modes: ["chat"], baseUrl: (origin: string) => `${origin}/v1` },
  { model: "claude", apiFormat: "anthropic", modes: ["chat"], baseUrl: (origin: string) => origin },
  { model: "gemini", apiFormat: "gemini", modes: ["chat"], baseUrl: (origin: string) => origin },
] as const;

let world: World;
let vendor: FakeVendor;
let apiKey: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const { contentType, frames } = providerAnswer(
      path.replace("streamGenerateContent?alt=sse", "generateContent"),
      body.replace('"stream":true', '"stream":false'),
      true,
    );
    return new Response(Buffer.concat(frames), { headers: { "content-type": contentType } });
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const { model, apiFormat, modes, baseUrl } of TARGETS) {
    await admin.post("/v1/admin/providers", {
      ...tenant,
      provider_key: model,
      name: model,
      api_format: apiFormat,
      base_url: baseUrl(vendor.origin),
      api_key: "secret-of-the-vendor",
    });
    await admin.post("/v1/admin/llms", { ...tenant, name: model, model_name: "m", provider: model, modes, group_ids: [group.id] });
  }
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const streamed = SURFACES.filter((surface) => surface.streamed);
// Google's own array is read as a stream regardless, and an object is not an array.
const cases = streamed.flatMap((surface) =>
  TARGETS.filter(({ model }) => surface.name !== "gemini array streamed" || model !== "gemini").map(
    ({ model }) => [surface.name, model, surface] as const,
  ),
);

test.each(cases)("%s from the non-streaming provider %s", async (name, model, surface) => {
  const { path, body } = surface.request(model, "hello");
  const id = `${name} of ${model}`;
  const response = await fetch(world.gateway.runtimeUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-correlation-id": id,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(surface.read(text)).toBe("answer");
  expect(text.match(/Grüße|Übersee/g)?.length).toBeGreaterThanOrEqual(2);
  expect(response.headers.get("content-type")).toBe(name.startsWith("gemini array") ? "application/json" : "text/event-stream");
  expect(response.headers.get("x-gw-ai-generated")).toBe("true");
  expect(await rowOf(world.admin, { correlation_id: id })).toMatchObject({
    success: true,
    error_type: null,
    llm_streaming: true,
    llm_prompt_tokens: 5,
    llm_completion_tokens: 4,
    tags: null,
  });
});

test("the official client reads the stream, with the usage it requested", async () => {
  const client = new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey });
  const stream = await client.chat.completions.create({
    model: "own",
    messages: [{ role: "user", content: "hello" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  let said = "";
  let usage: unknown = null;
  for await (const chunk of stream) {
    said += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  expect(said).toBe("Grüße aus Übersee 👋");
  expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 4 });
});
