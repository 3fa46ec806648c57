import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { wav } from "../../support/formats/sounds.ts";
import { PIXEL } from "../../support/vendors/painters.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What a group and its parents govern about images, speech and audio (interface 8.3). */
let world: World;
let vendor: FakeVendor;
let parent: string;
let child: string;
let openai: OpenAI;

beforeAll(async () => {
  vendor = fakeVendor(({ path }) => {
    if (path.endsWith("/speech")) return new Response(new Uint8Array([0xff, 0xfb]), { headers: { "content-type": "audio/mpeg" } });
    if (path.endsWith("/transcriptions")) return Response.json({ text: "heard" });
    if (path.endsWith("/moderations")) return Response.json({ id: "m", model: "m", results: [{ flagged: false }] });
    return Response.json({ created: 1, data: [{ b64_json: PIXEL }] });
  });
  world = await startWorld();
  const { admin } = world;
  ({ id: parent } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "studio" }));
  ({ id: child } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "desk", parent_group_id: parent }));
  const base_url = `${vendor.origin}/v1`;
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "o", api_format: "openai", base_url });
  for (const [name, mode] of [
    ["draws", "image"],
    ["speaks", "audio_speech"],
    ["hears", "audio_transcription"],
    ["judges", "moderation"],
  ])
    await admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name: name, provider: "o", mode, group_ids: [child] });
  const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${child}/api-keys`, { name: "k", access_mode: "shared" });
  openai = new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function govern(group: string, media_governance: object) {
  const reply = await world.admin.request("PATCH", `/v1/admin/resource-groups/${group}/media-governance`, { media_governance });
  return reply as { status: number; body: { effective: object; fields?: { field: string }[] } };
}
const said = (asked: Promise<unknown>) =>
  asked.then(
    () => 200,
    ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
  );
const draw = (more: object = {}) =>
  openai.images.generate({ model: "draws", prompt: "A boat", ...more } as OpenAI.Images.ImageGenerateParamsNonStreaming);
const speak = (more: object = {}) => openai.audio.speech.create({ model: "speaks", input: "Hello", voice: "alloy", ...more });
const picture = () => toFile(Buffer.from(PIXEL, "base64"), "a.png");
const sent = () => JSON.parse(vendor.seen.at(-1)?.body as string);

test("limits of parent and child combine to the strictest, and a child that loosens them is refused by field", async () => {
  const above = {
    image: { dim_whitelist: ["512x512", "1024x1024"], max_n: 3, require_image_input: false },
    audio_speech: { voice_whitelist: ["alloy", "coral"], speed_min: 0.5, max_speed: 2, max_input_characters: 20 },
  };
  expect((await govern(parent, above)).status).toBe(200);
  const own = await govern(child, {
    image: { dim_whitelist: ["512x512"], max_n: 2, quality_whitelist: [] },
    audio_speech: { voice_whitelist: ["coral"], speed_min: 0.8 },
  });
  expect(own.body.effective).toMatchObject({
    image: { dim_whitelist: ["512x512"], max_n: 2 },
    audio_speech: { voice_whitelist: ["coral"], speed_min: 0.8, max_speed: 2, max_input_characters: 20 },
  });
  const looser = await govern(child, { image: { dim_whitelist: ["2048x2048"], max_n: 4 }, audio_speech: { speed_min: 0.1 } });
  expect(looser.status).toBe(400);
  expect(looser.body.fields?.map(({ field }) => field)).toEqual(["image.dim_whitelist", "image.max_n", "audio_speech.speed_min"]);
  const unknown = await govern(child, { image: { max_brightness: 2 }, smell: { max_n: 1 } });
  expect(unknown.status).toBe(400);
  expect(JSON.stringify(unknown.body)).toMatch(/max_brightness.*there are dim_whitelist.*smell.*there are image/);
});

test("image requests are held to the combined limits, and a missing size is filled in from them", async () => {
  const before = vendor.seen.length;
  expect(await said(draw({ size: "1024x1024" }))).toMatch(/^400 .*size.*must be one of 512x512/);
  expect(await said(draw({ n: 3 }))).toMatch(/^400 .*\bn\b.*must be at most 2/);
  const edit = openai.images.edit({ model: "draws", prompt: "Bluer", image: await picture(), size: "1024x1024" });
  expect(await said(edit)).toMatch(/^400 .*size/);
  expect(vendor.seen.length).toBe(before);
  const { response } = await draw({ n: 2 }).withResponse();
  expect(sent()).toMatchObject({ n: 2, size: "512x512" });
  expect(response.headers.get("x-gw-parameters-clamped")).toBe("size");
  expect(await rowOf(world.admin, { id: response.headers.get("x-request-id") })).toMatchObject({
    custom_metadata: { parameters_clamped: "size" },
  });
});

test("a group that requires an image input refuses generation without one", async () => {
  await govern(parent, { image: { require_image_input: true } });
  expect((await govern(child, { image: { require_image_input: false } })).status).toBe(400);
  expect((await govern(child, {})).status).toBe(200);
  expect(await said(draw())).toMatch(/^400 .*image.*must come along/);
  expect(await said(openai.images.edit({ model: "draws", prompt: "Bluer", image: await picture() }))).toBe(200);
});

test("speech is held to the allowed voices, formats, speeds and lengths", async () => {
  const rules = { voice_whitelist: ["coral"], format_whitelist: ["opus"], speed_min: 0.8, max_speed: 1.5, max_input_characters: 6 };
  await govern(parent, { audio_speech: rules });
  expect(await said(speak())).toMatch(/^400 .*voice.*must be one of coral/);
  expect(await said(speak({ voice: "coral", response_format: "wav" }))).toMatch(/^400 .*response_format/);
  expect(await said(speak({ voice: "coral", speed: 0.5 }))).toMatch(/^400 .*speed.*at least 0.8/);
  expect(await said(speak({ voice: "coral", speed: 3 }))).toMatch(/^400 .*speed.*at most 1.5/);
  expect(await said(speak({ voice: "coral", input: "Too long" }))).toMatch(/^400 .*input.*at most 6/);
  const spoken = await speak({ voice: "coral", input: "🌍🌍🌍🌍🌍🌍" });
  expect([spoken.status, spoken.headers.get("content-type")]).toEqual([200, "audio/ogg"]);
  expect(sent()).toMatchObject({ voice: "coral", response_format: "opus" });
});

test("transcription is held to duration and language, and moderation to input length", async () => {
  const rules = { language_whitelist: ["de"], max_duration_seconds: 600 };
  await govern(parent, { audio_transcription: rules });
  const hear = async (more: object = {}) => {
    const file = await toFile(wav(3), "memo.wav");
    return said(openai.audio.transcriptions.create({ file, model: "hears", ...more }));
  };
  expect(await hear()).toMatch(/^400 .*language.*must be one of de/);
  expect(await hear({ language: "de" })).toBe(200);
  await govern(parent, { audio_transcription: { ...rules, max_duration_seconds: 0.5 }, moderation: { max_input_characters: 5 } });
  expect(await hear({ language: "de" })).toMatch(/^400 .*file.*at most 0.5/);
  expect(await said(openai.moderations.create({ model: "judges", input: ["abc", "def"] }))).toMatch(/^400 .*input.*at most 5/);
  expect(await said(openai.moderations.create({ model: "judges", input: "abc" }))).toBe(200);
});
