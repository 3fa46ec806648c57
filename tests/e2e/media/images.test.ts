import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Images and moderations with OpenAI's own client, over a fake of OpenAI's API. */
const PAGE = "<!doctype html><script>alert(1)</script>";
/** The revised prompt that the vendor returns. */
let revise: string | null = null;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
let world: World;
let vendor: FakeVendor;
let openai: OpenAI;
let groupId: string;

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    if (path === "/elsewhere/boat.png") return new Response(Buffer.from(PIXEL, "base64"), { headers: { "content-type": "image/png" } });
    if (path.startsWith("/elsewhere")) return new Response("gone", { status: 404 });
    const asked = JSON.parse(body);
    if (asked.model === "addresses") return Response.json({ created: 1, data: [{ url: `${vendor.origin}/elsewhere/${asked.prompt}` }] });
    if (path.endsWith("/moderations"))
      return Response.json({ id: "modr-1", model: asked.model, results: [{ flagged: true, categories: {}, category_scores: {} }] });
    if (asked.model === "down") return Response.json({ error: { message: "down", type: "server_error" } }, { status: 503 });
    const usage = {
      input_tokens: 20,
      input_tokens_details: { text_tokens: 20, image_tokens: 0 },
      output_tokens: 1_000,
      total_tokens: 1_020,
    };
    const b64_json = asked.model === "page" ? Buffer.from(PAGE).toString("base64") : PIXEL;
    const said = revise === null ? {} : { revised_prompt: revise };
    const data = Array.from({ length: asked.n ?? 1 }, () => ({ b64_json, ...said }));
    return Response.json({ created: 1763712000, data, ...(asked.model === "plain-1" ? {} : { usage }) });
  });
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  await admin.post("/v1/admin/providers", {
    tenant_id: "default",
    provider_key: "o",
    api_format: "openai",
    base_url: `${vendor.origin}/v1`,
  });
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "a", api_format: "anthropic", base_url: vendor.origin });
  const model = (name: string, model_name: string, more: object) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name, provider: "o", mode: "image", group_ids: [groupId], ...more });
  const tokens = { input_cost_per_million_tokens: 5, output_cost_per_million_tokens: 30 };
  await model("draws", "gpt-image-2", { ...tokens, supported_image_qualities: ["low", "high"] });
  await model("draws-each", "plain-1", { image_cost: 0.04 });
  await model("draws-page", "page", { image_cost: 0.04 });
  await model("draws-unpriced", "plain-1", {});
  await model("draws-elsewhere", "addresses", {
    image_cost: 0.04,
    image_prices: [
      { quality: "high", size: "1024x1024", usd: 0.2 },
      { quality: "high", usd: 0.1 },
    ],
  });
  await model("cannot", "claude", { provider: "a" });
  await model("judges", "omni-moderation-latest", { mode: "moderation" });
  await admin.post("/v1/admin/llm-router/routing-groups", {
    tenant_id: "default",
    id: "any-painter",
    name: "Any painter",
    mode: "image",
    routing_strategy: "ordered",
    retry_after: 0,
  });
  await model("first", "down", { image_cost: 0.04, routing_group_id: "any-painter", routing_weight: 5 });
  await model("second", "plain-1", { image_cost: 0.04, routing_group_id: "any-painter", routing_weight: 1 });
  openai = await clientOf(groupId);
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function clientOf(group: string): Promise<OpenAI> {
  const { key_value: apiKey } = await world.admin.post(`/v1/admin/resource-groups/${group}/api-keys`, { name: "k", access_mode: "shared" });
  return new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
}

const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const sent = () => JSON.parse(vendor.seen.at(-1)?.body as string);

test("an image of a model priced by tokens is returned with its cost and recorded", async () => {
  const { data, response } = await openai.images
    .generate({ model: "draws", prompt: "A lighthouse", quality: "high", size: "1024x1024", response_format: "b64_json" })
    .withResponse();
  expect(data.data?.[0]?.b64_json).toBe(PIXEL);
  expect(response.headers.get("x-gw-ai-generated")).toBeNull();
  // 20 x $5 + 1,000 x $30 a million.
  expect(data).toMatchObject({ gw_cost_usd: 0.0301, gw_model_id: expect.any(String) });
  // The vendor's own image models refuse a request for base64.
  expect(sent()).toEqual({ model: "gpt-image-2", prompt: "A lighthouse", quality: "high", size: "1024x1024" });
  expect(await rowBy(response)).toMatchObject({
    proxy_subtype: "image_generations",
    llm_model_used: "draws",
    media_images_generated: 1,
    llm_completion_tokens: 1_000,
    llm_estimated_cost_usd: 0.0301,
  });
});

test("images priced each are recorded, and fields meant for the gateway are not sent upstream", async () => {
  const asked = { model: "draws-each", prompt: "Three boats", n: 3, style: "vivid", chat_id: "c1", display_name: "boats" } as const;
  const { data, response } = await openai.images.generate(asked).withResponse();
  expect(data.data).toHaveLength(3);
  expect(data).toMatchObject({ gw_cost_usd: 0.12 });
  expect(sent()).toEqual({ model: "plain-1", prompt: "Three boats", n: 3, style: "vivid", response_format: "b64_json" });
  const untold = { llm_prompt_tokens: null, llm_completion_tokens: null, llm_total_tokens: null };
  expect(await rowBy(response)).toMatchObject({ media_images_generated: 3, llm_estimated_cost_usd: 0.12, ...untold });
});

test("an image is stored behind a URL that needs no credential until its chat is deleted", async () => {
  const asked = { model: "draws-each", prompt: "Two boats", n: 2, chat_id: "regatta", display_name: "boats" } as const;
  const { data, response } = await openai.images.generate(asked as OpenAI.Images.ImageGenerateParamsNonStreaming).withResponse();
  const urls = (data.data ?? []).map(({ url }) => url as string);
  expect(data.data?.map(({ b64_json }) => b64_json as unknown)).toEqual([null, null]);
  const shown = await fetch(urls[1] as string);
  expect(Buffer.from(await shown.arrayBuffer()).toString("base64")).toBe(PIXEL);
  expect([shown.headers.get("content-type"), shown.headers.get("x-content-type-options")]).toEqual(["image/png", "nosniff"]);
  const files = `${world.gateway.runtimeUrl}/v1/proxy/files?chat_id=regatta`;
  const headers = { "x-api-key": openai.apiKey as string };
  const listed = (await (await fetch(files, { headers })).json()) as { files: object[] };
  const kept = { kind: "image", mime_type: "image/png", chat_id: "regatta", display_name: "boats", model_id: expect.any(String) };
  expect(listed.files).toEqual([expect.objectContaining(kept), expect.objectContaining(kept)]);
  expect((await rowBy(response)).custom_metadata).toMatchObject({ files: [{ mime_type: "image/png" }, { mime_type: "image/png" }] });
  expect(await (await fetch(files, { method: "DELETE", headers })).json()).toEqual({ deleted: 2 });
  expect((await fetch(urls[0] as string)).status).toBe(404);
});

test('an upstream "image" that is not an image is returned inline but not stored', async () => {
  const { data, response } = await openai.images.generate({ model: "draws-page", prompt: "A page" }).withResponse();
  expect(data.data?.[0]).toEqual({ b64_json: Buffer.from(PAGE).toString("base64") });
  expect((await rowBy(response)).custom_metadata).toMatchObject({ file_not_stored: "invalid_body" });
});

test("guardrails on image_gen_output inspect the revised prompt", async () => {
  const { admin } = world;
  const guard = await admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "words of painters",
    enabled: true,
    group_ids: [groupId],
    surfaces: { image_gen_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan"] },
  });
  const revised = async (revised_prompt: string) => {
    revise = revised_prompt;
    const asked = openai.images.generate({ model: "draws-each", prompt: "A boat" }).withResponse();
    return asked.then(
      ({ data }) => data.data?.[0]?.revised_prompt,
      ({ status }: { status: number }) => status,
    );
  };
  expect(await revised("A boat")).toBe("A boat");
  expect(await revised("A boat of joe@example.com")).not.toContain("joe@example.com");
  expect(await revised("A boat called Project Titan")).toBe(403);
  revise = null;
  await admin.request("DELETE", `/v1/admin/guardrails/configs/${guard.id}?tenant_id=default`);
});

test("images answered by URL are fetched by the gateway, and prices follow the requested size and quality", async () => {
  const draw = (prompt: string, more: object = {}) =>
    openai.images.generate({ model: "draws-elsewhere", prompt, ...more } as OpenAI.Images.ImageGenerateParamsNonStreaming).withResponse();
  const { data, response } = await draw("boat.png", { response_format: "b64_json", quality: "high", size: "1024x1024" });
  expect(data.data).toEqual([{ b64_json: PIXEL }]);
  expect(data).toMatchObject({ gw_cost_usd: 0.2 });
  expect((await rowBy(response)).llm_estimated_cost_usd).toBe(0.2);
  const stored = await draw("boat.png", { quality: "high", size: "1536x1024" });
  expect(stored.data.data?.[0]?.url).toContain("/v1/proxy/files/");
  expect(stored.data).toMatchObject({ gw_cost_usd: 0.1 });
  // Size `auto` has no price of its own; without a size, the default size's price applies.
  expect((await draw("boat.png", { quality: "high", size: "auto" })).data).toMatchObject({ gw_cost_usd: 0.1 });
  expect((await draw("boat.png", { quality: "high" })).data).toMatchObject({ gw_cost_usd: 0.2 });
  expect((await draw("boat.png", { quality: "low" })).data).toMatchObject({ gw_cost_usd: 0.04 });
  const lost = await draw("none.png").then(
    () => 200,
    ({ status }: { status: number }) => status,
  );
  expect(lost).toBe(502);
});

test("an image without a price has the cost null, not 0", async () => {
  const { data, response } = await openai.images.generate({ model: "draws-unpriced", prompt: "A cat" }).withResponse();
  expect(data).toMatchObject({ gw_cost_usd: null });
  expect((await rowBy(response)).llm_estimated_cost_usd).toBeNull();
});

test.each([
  [{ prompt: "" }, "prompt"],
  [{ n: 11 }, "n"],
  [{ n: 1.5 }, "n"],
  [{ size: "big" }, "size"],
  [{ style: "odd" }, "style"],
  [{ stream: "yes" }, "stream"],
  [{ response_format: "gif" }, "response_format"],
  [{ quality: "hd" }, "quality"],
  [{ model: "cannot" }, "images"],
  [{ chat_id: "a\0b" }, "chat_id"],
  [{ chat_id: "\ud800" }, "chat_id"],
  [{ display_name: "a\0b" }, "display_name"],
])("%j is refused by field and nothing is sent upstream", async (wrong, named) => {
  const before = vendor.seen.length;
  const asked = openai.images.generate({ model: "draws", prompt: "A cat", ...wrong } as OpenAI.Images.ImageGenerateParamsNonStreaming);
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
  );
  expect(error?.status).toBe(400);
  expect(JSON.stringify(error?.error)).toContain(named);
  expect(vendor.seen.length).toBe(before);
});

test("a budget holds the highest possible cost before the call leaves, and refuses a model without a price", async () => {
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "careful", parent_group_id: groupId });
  await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
    llm_global_limits: { budget: { daily_limit_usd: 0.1, hard_stop: true } },
  });
  const careful = await clientOf(id);
  const status = (asked: OpenAI.Images.ImageGenerateParamsNonStreaming) =>
    careful.images.generate(asked).then(
      () => 200,
      (thrown: unknown) => (thrown as InstanceType<typeof OpenAI.APIError>).status,
    );
  expect(await status({ model: "draws-unpriced", prompt: "A cat" })).toBe(403);
  // Three at 4 cents exceed the budget, two do not; then a third does.
  expect(await status({ model: "draws-each", prompt: "A cat", n: 3 })).toBe(429);
  expect(await status({ model: "draws-each", prompt: "A cat", n: 2 })).toBe(200);
  expect(await status({ model: "draws-each", prompt: "A cat" })).toBe(429);
  // Priced by tokens: a large picture may cost more than what is left, whatever it costs in the end.
  expect(await status({ model: "draws", prompt: "A cat", size: "3840x2160" })).toBe(429);
});

test("a routing group falls back to another member for an image, which is charged once", async () => {
  const { data, response } = await openai.images
    .generate({ model: "any-painter", prompt: "A cat", response_format: "b64_json" })
    .withResponse();
  expect(data).toMatchObject({ data: [{ b64_json: PIXEL }], gw_cost_usd: 0.04 });
  expect(await rowBy(response)).toMatchObject({
    llm_model_used: "second",
    llm_used_fallback: true,
    media_images_generated: 1,
    llm_estimated_cost_usd: 0.04,
  });
});

test("images respect the tenant's allowed regions", async () => {
  const { admin } = world;
  await admin.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: ["eu"] });
  const before = vendor.seen.length;
  const error = await openai.images.generate({ model: "draws", prompt: "A cat" }).then(
    () => null,
    (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
  );
  await admin.request("PATCH", "/v1/admin/tenants/default", { allowed_regions: [] });
  expect([error?.status, vendor.seen.length]).toEqual([403, before]);
});

test("moderations pass through unchanged and are recorded", async () => {
  const { data, response } = await openai.moderations.create({ model: "judges", input: ["one", "two"] }).withResponse();
  expect(data.results[0]?.flagged).toBe(true);
  expect(sent()).toEqual({ model: "omni-moderation-latest", input: ["one", "two"] });
  expect(await rowBy(response)).toMatchObject({ proxy_subtype: "moderations", llm_model_used: "judges" });
});

test("guardrails inspect the prompts of images and the input of moderations", async () => {
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "no cards",
    enabled: true,
    group_ids: [groupId],
    surfaces: { image_gen_input: true, moderation_input: true },
    builtin: { pii_enabled: true, pii_action: "redact", pii_categories: ["email"] },
  });
  await openai.images.generate({ model: "draws", prompt: "The face of jane.doe@example.com" });
  expect(sent().prompt).not.toContain("jane.doe@example.com");
  await openai.moderations.create({ model: "judges", input: [{ type: "text", text: "Ask jane.doe@example.com" }] });
  expect(sent().input[0].text).not.toContain("jane.doe@example.com");
});
