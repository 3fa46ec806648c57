import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startVideoVendor, type VideoFaults, type VideoVendor, videoBytesOf } from "../../support/vendors/video-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Videos made from videos with OpenAI's own client, over fakes of three vendor formats. */
const faults: VideoFaults = {};
let world: World;
let vendor: VideoVendor;
let openai: OpenAI;
let groupId: string;
let apiKey: string;
const models = new Map<string, string>();

beforeAll(async () => {
  vendor = startVideoVendor(faults);
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  const provider = (provider_key: string, api_format: string, base_url: string) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "secret-upstream-key" });
  await provider("o", "openai", `${vendor.origin}/v1`);
  await provider("o2", "openai", `${vendor.origin}/v1`);
  await provider("g", "gemini", vendor.origin);
  await provider("v", "vertex", `${vendor.origin}/v1/projects/p/locations/l`);
  const model = async (name: string, model_name: string, key: string, more: object) => {
    const record = { tenant_id: "default", name, model_name, provider: key, mode: "video", group_ids: [groupId], ...more };
    models.set(name, (await admin.post("/v1/admin/llms", record)).id);
  };
  const perSecond = { video_cost_per_second: 0.1 };
  await model("films", "film-1", "o", { ...perSecond, supported_video_durations: [4, 8], max_video_duration_seconds: 12 });
  await model("films-2", "film-1", "o", perSecond);
  await model("films-google", "gemini-omni-1.1-flash", "g", perSecond);
  await model("films-vertex", "veo-3.1-generate-001", "v", { video_cost_per_second: 0.4 });
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" }));
  openai = clientOf(apiKey);
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

const clientOf = (key: string) => new OpenAI({ apiKey: key, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });

async function failureOf(asked: PromiseLike<unknown>): Promise<{ status: number; said: string }> {
  try {
    await asked;
    return { status: 200, said: "" };
  } catch (error) {
    const { status, message } = error as { status: number; message: string };
    return { status, said: message };
  }
}

async function ended(id: string): Promise<any> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await Bun.sleep(100)) {
    const video = await openai.videos.retrieve(id);
    if (video.status === "completed" || video.status === "failed") {
      const job = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/video/jobs/${id}`, { headers: { "x-api-key": apiKey } });
      return { ...video, job: await job.json() };
    }
  }
  throw new Error(`the job ${id} came to no end`);
}

async function filmed(model: string, more: Partial<OpenAI.VideoCreateParams> = {}): Promise<string> {
  const { id } = await openai.videos.create({ model, prompt: "A lighthouse", seconds: "8", size: "1280x720", ...more });
  expect((await ended(id)).status).toBe("completed");
  return id;
}

const lastMade = () => [...vendor.jobs.values()].at(-1);
const madeBy = async (id: string): Promise<string> => {
  const rows = await rowsOf(world.admin, { proxy_subtype: "video_end" }, 1);
  return (
    rows.find((row) => row.custom_metadata.video_end.job_id === id)?.upstream_request_id ?? (await Bun.sleep(100).then(() => madeBy(id)))
  );
};

test("a remix and an edit are jobs of their own on the source's model, as long as the source", async () => {
  const source = await filmed("films");
  const upstream = await madeBy(source);
  const remixed = await openai.videos.remix(source, { prompt: "At dawn" }).withResponse();
  expect(remixed.data).toMatchObject({ object: "video", status: "queued", remixed_from_video_id: source, model: "films", seconds: "8" });
  expect(remixed.data).toMatchObject({ size: "1280x720" });
  expect(lastMade()?.asked).toEqual({ prompt: "At dawn", path: `/v1/videos/${upstream}/remix` });
  const edited = await openai.videos.edit({ prompt: "With gulls", video: { id: source } });
  expect(lastMade()?.asked).toEqual({ prompt: "With gulls", video: { id: upstream }, path: "/v1/videos/edits" });
  // The vendor's default duration is four seconds.
  expect((await ended(remixed.data.id)).job).toMatchObject({ status: "succeeded", cost_usd: 0.4, source_job_id: source });
  expect((await ended(edited.id)).job).toMatchObject({ status: "succeeded", source_job_id: source });
  expect(await rowOf(world.admin, { id: remixed.response.headers.get("x-request-id") as string })).toMatchObject({
    ...{ proxy_subtype: "video_generations", llm_model_used: "films", http_status_code: 200 },
    target_url: `${vendor.origin}/v1/videos/${upstream}/remix`,
    custom_metadata: { video: { job_id: remixed.data.id, source_job_id: source } },
  });
  const content = await openai.videos.downloadContent(edited.id);
  expect(new Uint8Array(await content.arrayBuffer())).toEqual(videoBytesOf(await madeBy(edited.id)));
  // A remix of a video that is itself an edit.
  const again = await openai.videos.remix(edited.id, { prompt: "At night" });
  expect(again.remixed_from_video_id).toBe(edited.id);
  expect(lastMade()?.asked.path).toBe(`/v1/videos/${await madeBy(edited.id)}/remix`);
});

test("an extension is charged for its own seconds and lasts as long as both parts together", async () => {
  const source = await filmed("films");
  const extended = await openai.videos.extend({ prompt: "A ship comes", seconds: "12", video: { id: source } });
  expect(extended).toMatchObject({ remixed_from_video_id: source, seconds: "20", status: "queued" });
  expect(lastMade()?.asked).toMatchObject({ prompt: "A ship comes", seconds: "12", video: { id: await madeBy(source) } });
  const first = await ended(extended.id);
  expect(first).toMatchObject({ seconds: "20", job: { cost_usd: 1.2, duration_seconds: 12 } });
  // As JSON, extending a video that is itself an extension.
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/videos/extensions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "It leaves", seconds: "4", video: { id: extended.id } }),
  });
  const further = (await response.json()) as any;
  expect([response.status, further.seconds]).toEqual([200, "24"]);
  expect(await ended(further.id)).toMatchObject({ seconds: "24", job: { cost_usd: 0.4 } });
});

test("on Google's Interactions API a remix continues the interaction, and an extension is refused", async () => {
  const source = await filmed("films-google");
  const upstream = await madeBy(source);
  for (const made of [
    await openai.videos.remix(source, { prompt: "In snow" }),
    await openai.videos.edit({ prompt: "In snow", video: { id: source } }),
  ]) {
    expect(made.remixed_from_video_id).toBe(source);
    expect(lastMade()?.asked).toEqual({
      ...{ model: "gemini-omni-1.1-flash", input: "In snow", background: true, previous_interaction_id: upstream },
      response_format: { type: "video", delivery: "uri" },
    });
    expect((await ended(made.id)).status).toBe("completed");
  }
  const refused = await failureOf(openai.videos.extend({ prompt: "On", seconds: "4", video: { id: source } }));
  expect(refused).toMatchObject({ status: 400, said: expect.stringMatching(/video.*no extensions/) });
});

test("on Vertex AI Veo extends the stored video, and refuses remixes and edits", async () => {
  const source = await filmed("films-vertex");
  const before = vendor.jobs.size;
  expect(await failureOf(openai.videos.remix(source, { prompt: "x" }))).toMatchObject({
    status: 400,
    said: expect.stringContaining("video_id"),
  });
  expect(await failureOf(openai.videos.edit({ prompt: "x", video: { id: source } }))).toMatchObject({ status: 400 });
  expect(vendor.jobs.size).toBe(before);
  const extended = await openai.videos.extend({ prompt: "The tide", seconds: "7" as "8", video: { id: source } });
  expect(lastMade()?.asked).toEqual({
    path: "/v1/projects/p/locations/l/publishers/google/models/veo-3.1-generate-001:predictLongRunning",
    instances: [
      {
        prompt: "The tide",
        video: { bytesBase64Encoded: Buffer.from(videoBytesOf(await madeBy(source))).toString("base64"), mimeType: "video/mp4" },
      },
    ],
    parameters: { sampleCount: 1, durationSeconds: 7 },
  });
  expect(await ended(extended.id)).toMatchObject({ seconds: "15", job: { cost_usd: 2.8 } });
  const { job } = await ended(source);
  await openai.files.delete(job.output_file_id);
  const gone = await failureOf(openai.videos.extend({ prompt: "The tide", seconds: "7" as "8", video: { id: source } }));
  expect(gone.status).toBe(404);
});

test("a video of another group, or one that is not ready, cannot be remixed, edited or extended", async () => {
  faults.takes = () => 600_000;
  const { id: running } = await openai.videos.create({ model: "films", prompt: "Long" });
  const before = vendor.jobs.size;
  expect((await failureOf(openai.videos.remix(running, { prompt: "x" }))).status).toBe(409);
  expect((await failureOf(openai.videos.edit({ prompt: "x", video: { id: running } }))).status).toBe(409);
  expect((await failureOf(openai.videos.extend({ prompt: "x", seconds: "4", video: { id: running } }))).status).toBe(409);
  delete faults.takes;
  await ended(running);
  const { admin } = world;
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "others", group_type: "team" });
  const { key_value: theirs } = await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "k", access_mode: "shared" });
  const others = clientOf(theirs);
  for (const video of [running, "video_none"]) {
    expect((await failureOf(others.videos.remix(video, { prompt: "x" }))).status).toBe(404);
    expect((await failureOf(others.videos.edit({ prompt: "x", video: { id: video } }))).status).toBe(404);
    expect((await failureOf(others.videos.extend({ prompt: "x", seconds: "4", video: { id: video } }))).status).toBe(404);
  }
  expect(vendor.jobs.size).toBe(before);
});

test("invalid requests are refused by field, and IDs cannot alter the upstream path", async () => {
  const source = await filmed("films");
  const before = vendor.jobs.size;
  const said = async (path: string, body: object) => {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/videos${path}`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return `${response.status} ${await response.text()}`;
  };
  const video = { id: source };
  expect(await said(`/${source}/remix`, {})).toMatch(/^400 .*prompt/);
  expect(await said(`/${source}/remix`, { prompt: "x", model: "films-2" })).toMatch(/^400 .*model/);
  expect(await said(`/${source}/remix`, { prompt: "x", seconds: "4" })).toMatch(/^400 .*seconds/);
  expect(await said("/edits", { prompt: "x", video: source })).toMatch(/^400 .*video/);
  expect(await said("/edits", { prompt: "x", video: { id: "a\0b" } })).toMatch(/^404 /);
  expect(await said("/extensions", { prompt: "x", video: { id: "a\0b" }, seconds: "4" })).toMatch(/^404 /);
  expect(await said("/edits", { prompt: "x", video, size: "1280x720" })).toMatch(/^400 .*size/);
  expect(await said("/extensions", { prompt: "x", video })).toMatch(/^400 .*seconds/);
  expect(await said("/extensions", { prompt: "x", video, seconds: "16" })).toMatch(/^400 .*seconds.*at most 12/);
  const upload = await toFile(videoBytesOf("u"), "u.mp4", { type: "video/mp4" });
  const told = { status: 400, said: expect.stringMatching(/video.*upload/) };
  expect(await failureOf(openai.videos.edit({ prompt: "x", video: upload }))).toMatchObject(told);
  expect(await failureOf(openai.videos.extend({ prompt: "x", seconds: "4", video: upload }))).toMatchObject(told);
  const character = await failureOf(openai.videos.createCharacter({ name: "c", video: upload }));
  expect([404, 405]).toContain(character.status);
  expect(vendor.jobs.size).toBe(before);
});

test("limits, guardrails and governance apply, and a video of a deleted model cannot be continued", async () => {
  const { admin } = world;
  const source = await filmed("films-2");
  await admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "words of films", enabled: true, group_ids: [groupId], surfaces: { video_gen_input: true } },
    builtin: { banned_words: ["project titan"] },
  });
  expect((await failureOf(openai.videos.remix(source, { prompt: "Project Titan" }))).status).toBe(403);
  const govern = (video: object) =>
    admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/media-governance`, { media_governance: { video } });
  expect((await govern({ resolution_whitelist: ["1080p"] })).status).toBe(200);
  expect((await failureOf(openai.videos.remix(source, { prompt: "x" }))).status).toBe(400);
  expect((await govern({ resolution_whitelist: ["720p"], max_duration_seconds: 10 })).status).toBe(200);
  expect((await failureOf(openai.videos.remix(source, { prompt: "x" }))).status).toBe(200);
  // Together they are longer than a video may be.
  expect((await failureOf(openai.videos.extend({ prompt: "x", seconds: "4", video: { id: source } }))).status).toBe(400);
  expect((await govern({ max_duration_seconds: 100 })).status).toBe(200);
  const within = { llm_global_limits: { budget: { daily_limit_usd: 1_000, hard_stop: true } } };
  const limit = (limits: object) => admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits);
  expect((await limit(within)).status).toBe(200);
  within.llm_global_limits.budget.daily_limit_usd = 0.01;
  expect((await limit(within)).status).toBe(200);
  expect((await failureOf(openai.videos.extend({ prompt: "x", seconds: "8", video: { id: source } }))).status).toBe(429);
  within.llm_global_limits.budget.daily_limit_usd = 1_000;
  expect((await limit(within)).status).toBe(200);
  const path = `/v1/admin/llms/${models.get("films-2")}`;
  expect((await admin.request("PATCH", path, { provider: "o2" })).status).toBe(200);
  expect(await failureOf(openai.videos.remix(source, { prompt: "x" }))).toMatchObject({
    status: 400,
    said: expect.stringContaining("did not make"),
  });
  expect((await admin.request("DELETE", path)).status).toBeLessThan(300);
  const gone = await failureOf(openai.videos.remix(source, { prompt: "x" }));
  expect(gone).toMatchObject({ status: 404, said: expect.stringContaining("model") });
});
