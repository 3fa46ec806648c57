import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import type { FakeVendor } from "../../support/vendors/fake-vendor.ts";
import { LARGE, PIXEL, startPainters } from "../../support/vendors/painters.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam } from "../tools/mcp-harness.ts";

/** Images from models that do not speak OpenAI's API, and edits by both kinds, with OpenAI's own client. */
let world: World;
let vendor: FakeVendor;
/** A fake of OpenAI's API that reads multipart forms. */
let editor: ReturnType<typeof Bun.serve>;
const edited: { fields: [string, string][]; files: [string, string, number][] }[] = [];
let openai: OpenAI;

beforeAll(async () => {
  vendor = startPainters();
  editor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = await request.formData();
      const entries = [...form.entries()];
      edited.push({
        fields: entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
        files: entries.flatMap(([name, value]): [string, string, number][] => {
          if (typeof value === "string") return [];
          const file = value as File;
          return [[name, file.type, file.size]];
        }),
      });
      const input_tokens_details = {
        ...{ text_tokens: 20, image_tokens: 280, cached_tokens: 200 },
        cached_tokens_details: { image_tokens: 200, text_tokens: 0 },
      };
      const usage = { input_tokens: 300, input_tokens_details, output_tokens: 1_000 };
      return Response.json({ created: 1, data: [{ b64_json: PIXEL }], usage });
    },
  });
  world = await startWorld();
  const { admin } = world;
  const team = await newTeam(admin, "painters");
  const vertex = `${vendor.origin}/v1/projects/fake/locations/global`;
  for (const [provider_key, api_format, base_url] of [
    ["g", "gemini", vendor.origin],
    ["v", "vertex", vertex],
    ["b", "bedrock", vendor.origin],
    ["o", "openai", `http://127.0.0.1:${editor.port}/v1`],
  ])
    await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "vendor-secret-0001" });
  for (const [name, provider, prices] of [
    ["gemini-3.1-flash-image", "g", { input_cost_per_million_tokens: 0.5, output_cost_per_million_tokens: 60 }],
    ["imagen-4", "v", { image_cost: 0.04 }],
    ["gemini-on-vertex-image", "v", { image_cost: 0.05 }],
    ["amazon.nova-canvas-v1:0", "b", { image_cost: 0.06 }],
    [
      "gpt-image-2",
      "o",
      {
        ...{ input_cost_per_million_tokens: 5, output_cost_per_million_tokens: 30 },
        ...{ image_input_cost_per_million_tokens: 8, image_cache_read_cost_per_million_tokens: 2 },
      },
    ],
  ] as const)
    await admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name: name,
      provider,
      mode: "image",
      group_ids: [team.groupId],
      ...prices,
    });
  openai = new OpenAI({ apiKey: team.apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
  await editor.stop(true);
});

const rowBy = (response: Response) => rowOf(world.admin, { id: response.headers.get("x-request-id") });
const sent = () => JSON.parse(vendor.seen.at(-1)?.body as string);
const draw = (model: string, more: object = {}) =>
  openai.images
    .generate({ model, prompt: "A lighthouse", response_format: "b64_json", ...more } as OpenAI.Images.ImageGenerateParamsNonStreaming)
    .withResponse();
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ status, message }: { status: number; message: string }) => ({ status, message }),
  );
const picture = (name = "a.png") => toFile(Buffer.from(PIXEL, "base64"), name);

test("Gemini is called once per image with the requested aspect ratio and size, priced by tokens", async () => {
  const before = vendor.seen.length;
  const { data, response } = await draw("gemini-3.1-flash-image", { n: 3, size: "2048x1152", quality: "high" });
  expect(data.data?.map(({ b64_json }) => b64_json)).toEqual([PIXEL, PIXEL, PIXEL]);
  expect(vendor.seen.slice(before).map(({ path }) => path)).toEqual(Array(3).fill("/v1beta/models/gemini-3.1-flash-image:generateContent"));
  expect(sent().generationConfig).toEqual({ responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "16:9", imageSize: "2K" } });
  expect(response.headers.get("x-gw-dropped-parameters")).toBe("quality");
  // 3 x (8 x $0.5 + 1,120 x $60) a million.
  expect(data).toMatchObject({ gw_cost_usd: 0.201612, usage: { output_tokens: 3_360 } });
  expect(await rowBy(response)).toMatchObject({
    media_images_generated: 3,
    llm_completion_tokens: 3_360,
    llm_estimated_cost_usd: 0.201612,
  });
});

test("Gemini's large images are returned up to the answer's size limit, and all generated images are charged", async () => {
  const { data } = await draw("gemini-3.1-flash-image", { prompt: "A lighthouse in detail", size: "4096x4096" });
  expect(data.data?.[0]?.b64_json?.length).toBe(LARGE.length);
  const before = vendor.seen.length;
  const several = await draw("gemini-3.1-flash-image", { prompt: "In detail", n: 5 });
  expect(several.data.data?.map(({ b64_json }) => b64_json?.length)).toEqual([LARGE.length, LARGE.length]);
  expect(vendor.seen).toHaveLength(before + 4);
  // 4 x (8 x $0.5 + 1,120 x $60) a million.
  expect(await rowBy(several.response)).toMatchObject({ success: true, media_images_generated: 2, llm_estimated_cost_usd: 0.268816 });
});

test("an image declined by the model is refused with 400, and the tokens used are on the row", async () => {
  const asked = await openai.images
    .generate({ model: "gemini-3.1-flash-image", prompt: "forbidden" })
    .asResponse()
    .catch((error: InstanceType<typeof OpenAI.APIError>) => error);
  expect(asked).toMatchObject({ status: 400 });
  const row = await rowOf(world.admin, { id: (asked.headers as Headers).get("x-request-id") });
  expect(row).toMatchObject({ success: false, error_type: "picture_declined", llm_completion_tokens: 5 });
  expect(row.error_message).toContain("I would rather not.");
  for (const model of ["imagen-4", "amazon.nova-canvas-v1:0"])
    expect(await refusal(draw(model, { prompt: "forbidden" }))).toMatchObject({ status: 400 });
});

test("Imagen and Gemini on Vertex AI, and Nova Canvas on Bedrock, generate images", async () => {
  const imagen = await draw("imagen-4", { n: 2, size: "1024x1024" });
  expect(vendor.seen.at(-1)?.path).toBe("/v1/projects/fake/locations/global/publishers/google/models/imagen-4:predict");
  expect(sent()).toEqual({ instances: [{ prompt: "A lighthouse" }], parameters: { sampleCount: 2, aspectRatio: "1:1" } });
  expect(imagen.data).toMatchObject({ data: [{ b64_json: PIXEL }, { b64_json: PIXEL }], gw_cost_usd: 0.08 });
  await draw("gemini-on-vertex-image");
  expect(vendor.seen.at(-1)?.path).toEndWith("/publishers/google/models/gemini-on-vertex-image:generateContent");
  const nova = await draw("amazon.nova-canvas-v1:0", { size: "1280x720", quality: "hd" });
  expect(vendor.seen.at(-1)?.path).toBe("/model/amazon.nova-canvas-v1%3A0/invoke");
  expect(sent()).toEqual({
    taskType: "TEXT_IMAGE",
    textToImageParams: { text: "A lighthouse" },
    imageGenerationConfig: { numberOfImages: 1, width: 1_280, height: 720, quality: "premium" },
  });
  expect(await rowBy(nova.response)).toMatchObject({ media_images_generated: 1, llm_estimated_cost_usd: 0.06 });
});

test("image edits are sent as a form to OpenAI, inline to Gemini, and refused for models without edits", async () => {
  const images = [await picture(), await picture("b.png")];
  const { data, response } = await openai.images
    .edit({ model: "gpt-image-2", image: images, mask: await picture("m.png"), prompt: "Bluer", n: 1, response_format: "b64_json" })
    .withResponse();
  expect(data.data?.[0]?.b64_json).toBe(PIXEL);
  expect(edited.at(-1)).toEqual({
    fields: [
      ["model", "gpt-image-2"],
      ["prompt", "Bluer"],
      ["n", "1"],
    ],
    files: [
      ["mask", "image/png", 70],
      ["image[]", "image/png", 70],
      ["image[]", "image/png", 70],
    ],
  });
  // 300 x $5 + 1,000 x $30 a million. Of the prompt, 20 text tokens at $5 a million, 80 image tokens at $8 and 200 cached ones at $2; then
  // 1,000 at $30.
  expect(await rowBy(response)).toMatchObject({ proxy_subtype: "image_edits", media_images_generated: 1, llm_estimated_cost_usd: 0.03114 });

  await openai.images.edit({ model: "gemini-3.1-flash-image", image: await picture(), prompt: "Bluer" });
  expect(sent().contents[0].parts).toEqual([{ inlineData: { mimeType: "image/png", data: PIXEL } }, { text: "Bluer" }]);
  for (const [model, more, named] of [
    ["gemini-3.1-flash-image", { mask: await picture() }, "mask"],
    ["gemini-3.1-flash-image", { size: "1000x100" }, "size"],
    ["imagen-4", {}, "image edits"],
    ["gpt-image-2", { n: 11 }, "n"],
    ["gpt-image-2", { image: await toFile(Buffer.from("<svg/>"), "a.png") }, "image"],
  ] as const)
    expect(
      await refusal(
        openai.images.edit({ model, image: await picture(), prompt: "Bluer", ...more } as OpenAI.Images.ImageEditParamsNonStreaming),
      ),
    ).toMatchObject({ status: 400, message: expect.stringContaining(named) });
});
