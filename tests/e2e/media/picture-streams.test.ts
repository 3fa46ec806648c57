import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { PIXEL, startPainters } from "../../support/vendors/painters.ts";
import { PICTURE_USAGE, startStreamingPainter } from "../../support/vendors/streaming-painter.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Streamed images with OpenAI's own client, over fake vendors. */
type Painting = Omit<OpenAI.Images.ImageGenerateParamsStreaming, "prompt" | "stream" | "model"> & { model: string; prompt?: string };
let world: World;
let vendor: Awaited<ReturnType<typeof startStreamingPainter>>;
let google: ReturnType<typeof startPainters>;
let openai: OpenAI;
let groupId: string;

/** 20 x $5 + 1,000 x $30 a million. */
const COST = 0.0301;
const TOKEN_PRICES = { input_cost_per_million_tokens: 5, output_cost_per_million_tokens: 30 };

beforeAll(async () => {
  vendor = await startStreamingPainter();
  google = startPainters();
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  const provider = (provider_key: string, api_format: string, base_url: string) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "vendor-secret-0001" });
  await provider("o", "openai", vendor.baseUrl);
  await provider("g", "gemini", google.origin);
  const model = (name: string, more: object = {}, prices: object = TOKEN_PRICES) =>
    admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name, model_name: name, provider: "o", mode: "image", group_ids: [groupId] },
      ...prices,
      ...more,
    });
  for (const name of ["draws", "slow", "torn", "left", "short", "failing", "failing-first", "huge", "several", "revising", "whole"])
    await model(name);
  await model("torn-each", { model_name: "torn" }, { image_cost: 0.04 });
  await model("banana", { model_name: "gemini-3.1-flash-image", provider: "g" });
  await admin.post("/v1/admin/llm-router/routing-groups", {
    ...{ tenant_id: "default", id: "any-painter", name: "Any painter", mode: "image", routing_strategy: "ordered", retry_after: 0 },
  });
  await model("first", { model_name: "failing-first", routing_group_id: "any-painter", routing_weight: 5 });
  await model("second", { model_name: "draws", routing_group_id: "any-painter", routing_weight: 1 });
  openai = await clientOf(groupId);
});
afterAll(async () => {
  await world.end();
  vendor.stop();
  await google.stop();
});

async function clientOf(group: string): Promise<OpenAI> {
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "k", access_mode: "shared" });
  return new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
}

const draw = (asked: Painting, by = openai) => by.images.generate({ prompt: "A lighthouse", ...asked, stream: true }).withResponse();

/** Reads a whole stream; a vendor that waits for its first event to be received continues then. */
async function read<Event extends { type: string }>(stream: AsyncIterable<Event>): Promise<{ events: Event[]; error: string | null }> {
  const events: Event[] = [];
  try {
    for await (const event of stream) {
      events.push(event);
      vendor.goOn();
    }
  } catch (thrown) {
    return { events, error: (thrown as Error).message };
  }
  return { events, error: null };
}

const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ status, message }: { status: number; message: string }) => ({ status, message }),
  );

test("an image streams as it is drawn, and is metered once by its last event", async () => {
  const { data: stream, response } = await draw({ model: "slow", size: "1024x1024", partial_images: 1 });
  const { events } = await read(stream);
  expect(events.map(({ type, b64_json }) => [type, b64_json])).toEqual([
    ["image_generation.partial_image", PIXEL],
    ["image_generation.completed", PIXEL],
  ]);
  expect(events[1]).toMatchObject({ usage: PICTURE_USAGE, size: "1024x1024" });
  expect(JSON.parse(vendor.seen.at(-1)?.body as string)).toEqual({
    ...{ model: "slow", prompt: "A lighthouse", size: "1024x1024", partial_images: 1, stream: true, response_format: "b64_json" },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await rowBy(response)).toMatchObject({
    ...{ proxy_subtype: "image_generations", success: true, llm_streaming: true, llm_model_used: "slow", tags: null },
    ...{ media_images_generated: 1, llm_prompt_tokens: 20, llm_completion_tokens: 1_000, llm_estimated_cost_usd: COST },
  });
});

test("several images are one call metered by their events; fewer than requested still succeed", async () => {
  const two = await draw({ model: "several", n: 2 });
  expect((await read(two.data)).events.map(({ type }) => type.split(".")[1])).toEqual([
    ...["partial_image", "completed", "partial_image", "completed"],
  ]);
  expect(await rowBy(two.response)).toMatchObject({ media_images_generated: 2, llm_estimated_cost_usd: 2 * COST });
  const one = await draw({ model: "draws", n: 2 });
  expect(await read(one.data)).toMatchObject({ error: null, events: [{}, { type: "image_generation.completed" }] });
  expect(await rowBy(one.response)).toMatchObject({ success: true, media_images_generated: 1, llm_estimated_cost_usd: COST });
});

test("an image edit streams too", async () => {
  const { data: stream, response } = await openai.images
    .edit({
      ...{ model: "draws", prompt: "Bluer", stream: true, partial_images: 2 },
      image: await toFile(Buffer.from(PIXEL, "base64"), "a.png", { type: "image/png" }),
    })
    .withResponse();
  const { events } = await read(stream);
  expect(events.map(({ type }) => type)).toEqual(["image_edit.partial_image", "image_edit.completed"]);
  expect(events[1]).toMatchObject({ b64_json: PIXEL, usage: PICTURE_USAGE });
  const sent = vendor.seen.at(-1)?.body as string;
  for (const [name, value] of Object.entries({ stream: "true", partial_images: "2" }))
    expect(sent).toContain(`name="${name}"\r\n\r\n${value}\r\n`);
  expect(await rowBy(response)).toMatchObject({
    ...{ proxy_subtype: "image_edits", llm_streaming: true, media_images_generated: 1, llm_estimated_cost_usd: COST },
  });
});

test("a model without streaming is answered as a stream, in OpenAI's format and in a translated one", async () => {
  const passed = await draw({ model: "whole", n: 2, quality: "high" });
  const { events } = await read(passed.data);
  expect(events).toMatchObject([
    { type: "image_generation.completed", b64_json: PIXEL, created_at: 7, quality: "high", usage: { total_tokens: 0 } },
    { type: "image_generation.completed", b64_json: PIXEL, created_at: 7, quality: "high", usage: PICTURE_USAGE },
  ]);
  expect(await rowBy(passed.response)).toMatchObject({ media_images_generated: 2, llm_estimated_cost_usd: COST });
  const translated = await draw({ model: "banana", size: "1024x1024", partial_images: 2 });
  expect((await read(translated.data)).events).toMatchObject([
    { type: "image_generation.completed", b64_json: PIXEL, size: "1024x1024", usage: { output_tokens: 1_120 } },
  ]);
  expect(translated.response.headers.get("x-gw-dropped-parameters")).toBe("partial_images");
  expect(google.seen.at(-1)?.body).not.toContain("stream");
  const edited = await openai.images.edit({
    ...{
      model: "banana",
      prompt: "Bluer",
      stream: true,
      image: await toFile(Buffer.from(PIXEL, "base64"), "a.png", { type: "image/png" }),
    },
  });
  expect((await read(edited)).events.map(({ type }) => type)).toEqual(["image_edit.completed"]);
});

test("a stream that breaks off or ends early becomes an error, and the images shown are charged", async () => {
  for (const model of ["torn", "short"]) {
    const { data, response } = await draw({ model, size: "1024x1024" });
    const { events, error } = await read(data);
    expect(events.map(({ type }) => type)).toEqual(["image_generation.partial_image"]);
    expect(error).toContain("broke off");
    // As much as a picture of this size may cost.
    expect(await rowBy(response)).toMatchObject({
      ...{ success: false, error_type: "upstream_interrupted", tags: ["usage_estimated"], media_images_generated: 1 },
      ...{ llm_prompt_tokens: 3, llm_completion_tokens: 5_243 },
    });
  }
  const each = await draw({ model: "torn-each" });
  await read(each.data);
  expect(await rowBy(each.response)).toMatchObject({ media_images_generated: 1, llm_estimated_cost_usd: 0.04 });
});

test("a client that disconnects after a partial image is charged for it, and the upstream is cancelled", async () => {
  const { data: stream, response } = await draw({ model: "left", size: "1024x1024" });
  for await (const { type } of stream) if (type === "image_generation.partial_image") break;
  stream.controller.abort();
  await vendor.left;
  expect(await rowBy(response)).toMatchObject({
    ...{ success: false, error_type: "client_disconnected", media_images_generated: 1, llm_completion_tokens: 5_243 },
  });
});

test("a provider error in the stream reaches the caller; before the first event another member is tried", async () => {
  for (const model of ["failing", "failing-first"]) {
    const { data, response } = await draw({ model });
    expect((await read(data)).error).toContain("The picture was blocked.");
    const row = await rowBy(response);
    expect([row.success, row.error_type, row.error_message]).toEqual([false, "upstream_interrupted", expect.stringContaining("blocked")]);
  }
  const { data, response } = await draw({ model: "any-painter" });
  expect(await read(data)).toMatchObject({ error: null, events: [{}, { type: "image_generation.completed" }] });
  expect(await rowBy(response)).toMatchObject({ llm_model_used: "second", llm_used_fallback: true, media_images_generated: 1 });
});

test("an event of endless size is cut off at 48 MiB", async () => {
  const { data, response } = await draw({ model: "huge" });
  expect(await read(data)).toMatchObject({ events: [], error: expect.stringContaining("broke off") });
  expect(await rowBy(response)).toMatchObject({ success: false, error_message: expect.stringContaining("larger than 48 MiB") });
});

test("guardrails inspect the prompt of a stream and the revised prompt in its events", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  const guard = await admin.post("/v1/admin/guardrails/configs", {
    ...{
      tenant_id: "default",
      name: "careful",
      enabled: true,
      group_ids: [id],
      surfaces: { image_gen_input: true, image_gen_output: true },
    },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan"] },
  });
  const careful = await clientOf(id);
  const { data } = await draw({ model: "revising", prompt: "The face of jane@example.com" }, careful);
  const { events } = await read(data);
  expect(JSON.parse(vendor.seen.at(-1)?.body as string).prompt).toBe("The face of [REDACTED:email]");
  expect(events).toMatchObject([{}, { revised_prompt: "A boat of [REDACTED:email]", b64_json: PIXEL, usage: PICTURE_USAGE }]);
  expect(await refusal(draw({ model: "draws", prompt: "Project Titan" }, careful))).toMatchObject({ status: 403 });
  await admin.request("PATCH", `/v1/admin/guardrails/configs/${guard.id}?tenant_id=default`, {
    builtin: { pii_enabled: true, pii_action: "block" },
  });
  const blocked = await draw({ model: "revising" }, careful);
  const seen = await read(blocked.data);
  expect(JSON.stringify(seen.events)).not.toMatch(/joe@example\.com|completed/);
  expect(seen.error).not.toBeNull();
  expect(await rowBy(blocked.response)).toMatchObject({ success: false, llm_estimated_cost_usd: COST });
});

test("a budget holds the highest possible cost of a streamed image and is charged the actual cost", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "thrifty", parent_group_id: groupId });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.17, hard_stop: true } },
  });
  const thrifty = await clientOf(id);
  const before = vendor.seen.length;
  // Partial images cost tokens too: $0.158 for the picture, three cents for ten partial ones.
  expect(await refusal(draw({ model: "draws", size: "1024x1024", partial_images: 3, n: 2 }, thrifty))).toMatchObject({ status: 429 });
  expect(await refusal(draw({ model: "draws" }, thrifty))).toMatchObject({ status: 429 });
  expect(vendor.seen).toHaveLength(before);
  const { data, response } = await draw({ model: "draws", size: "1024x1024", partial_images: 3 }, thrifty);
  await read(data);
  expect(await rowBy(response)).toMatchObject({ llm_estimated_cost_usd: COST });
  expect(await refusal(draw({ model: "draws", size: "1024x1024" }, thrifty))).toMatchObject({ status: 429 });
});

test.each([
  [{ partial_images: 4 }, "partial_images"],
  [{ response_format: "url" }, "response_format"],
  [{ stream: "maybe" }, "stream"],
])("%j is refused by field and nothing is sent upstream", async (wrong, field) => {
  const before = vendor.seen.length;
  const asked = { model: "draws", prompt: "A cat", stream: true, ...wrong } as OpenAI.Images.ImageGenerateParamsStreaming;
  expect(await refusal(openai.images.generate(asked))).toMatchObject({ status: 400, message: expect.stringContaining(`\`${field}\``) });
  expect(vendor.seen).toHaveLength(before);
});
