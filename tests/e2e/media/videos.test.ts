import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { servedBy, until } from "../../support/until.ts";
import { startVideoVendor, type VideoFaults, type VideoVendor, videoBytesOf } from "../../support/vendors/video-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Videos through the gateway's own API and with OpenAI's own client, over fakes of three vendor formats. */
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const faults: VideoFaults = {};
let world: World;
let vendor: VideoVendor;
let openai: OpenAI;
let groupId: string;
let apiKey: string;

beforeAll(async () => {
  vendor = startVideoVendor(faults);
  world = await startWorld();
  const { admin } = world;
  ({ id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" }));
  const provider = (provider_key: string, api_format: string, base_url: string) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, api_format, base_url, api_key: "secret-upstream-key" });
  await provider("o", "openai", `${vendor.origin}/v1`);
  await provider("g", "gemini", vendor.origin);
  await provider("v", "vertex", `${vendor.origin}/v1/projects/p/locations/l`);
  await provider("a", "anthropic", vendor.origin);
  const model = (name: string, model_name: string, key: string, more: object) =>
    admin.post("/v1/admin/llms", { tenant_id: "default", name, model_name, provider: key, mode: "video", group_ids: [groupId], ...more });
  await model("films", "film-1", "o", {
    video_prices: [{ resolution: "1080p", usd_per_second: 0.3 }],
    video_cost_per_second: 0.1,
    supported_video_resolutions: ["720p", "1080p"],
    supported_video_durations: [4, 8],
    max_video_duration_seconds: 8,
  });
  await model("films-google", "gemini-omni-1.1-flash", "g", {
    input_cost_per_million_tokens: 1.5,
    output_cost_per_million_tokens: 3,
    video_output_cost_per_million_tokens: 17.5,
  });
  await model("films-vertex", "veo-3.1-generate-001", "v", { video_cost_per_second: 0.4 });
  await model("films-unpriced", "film-1", "o", {});
  await model("cannot", "claude", "a", {});
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" }));
  openai = new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

async function llm(method: string, path: string, body?: unknown, key = apiKey) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm${path}`, {
    method,
    headers: { "x-api-key": key, "x-gw-labels": "team=films", ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const statusOf = (asked: PromiseLike<unknown>): Promise<number> =>
  Promise.resolve(asked).then(
    () => 200,
    (error: { status: number }) => error.status,
  );

async function ended(id: string): Promise<any> {
  const { body } = await until(
    () => llm("GET", `/video/jobs/${id}`),
    (answer) => !["queued", "in_progress"].includes(answer.body.status),
  );
  return body;
}

const endRow = (id: string) =>
  until(
    async () => (await rowsOf(world.admin, { proxy_subtype: "video_end" }, 1)).filter((row) => row.custom_metadata.video_end.job_id === id),
    (rows) => rows.length > 0,
  );

async function fileBytes(id: string): Promise<Uint8Array> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/files/${id}/content`, { headers: { "x-api-key": apiKey } });
  expect(response.headers.get("content-type")).toBe("video/mp4");
  return new Uint8Array(await response.arrayBuffer());
}

test("a job is submitted and polled, its file stored and its cost recorded once", async () => {
  const asked = { model: "films", prompt: "A lighthouse at dusk", resolution: "1080p", duration_seconds: 8, chat_id: "coast" };
  const submitted = await llm("POST", "/video/generations", asked);
  expect(submitted.status).toBe(200);
  expect(submitted.body).toMatchObject({ status: "queued", output_file_id: null, cost_usd: null, error: null });
  const job = await ended(submitted.body.job_id);
  expect(job).toMatchObject({ status: "succeeded", cost_usd: 2.4, error: null, progress: 100, gw_model_id: submitted.body.gw_model_id });
  const made = [...vendor.jobs.values()].find(({ asked: one }) => one.prompt === asked.prompt);
  expect(made?.asked).toMatchObject({ model: "film-1", size: "1920x1080", seconds: "8" });
  expect(made?.asked).not.toHaveProperty("chat_id");
  expect(await fileBytes(job.output_file_id)).toEqual(videoBytesOf(made?.id as string));
  const rows = await endRow(job.job_id);
  expect(rows[0].custom_metadata.labels).toEqual({ team: "films" });
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    ...{ proxy_type: "llm", llm_model_used: "films", llm_provider: "o", llm_estimated_cost_usd: 2.4, media_video_seconds_output: 8 },
    ...{ success: true, parent_request_id: submitted.headers.get("x-request-id"), upstream_request_id: made?.id },
    ...{ response_size_bytes: null, response_content_hash: null },
  });
  const { api_key_id, api_key_name } = await rowOf(world.admin, { id: submitted.headers.get("x-request-id") });
  expect([rows[0].api_key_id, rows[0].api_key_name]).toEqual([api_key_id, api_key_name]);
  expect(await rowOf(world.admin, { id: submitted.headers.get("x-request-id") })).toMatchObject({
    ...{ proxy_subtype: "video_generations", llm_model_used: "films", http_status_code: 200, llm_estimated_cost_usd: null },
    custom_metadata: { video: { job_id: job.job_id } },
  });
  const gone = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/files?chat_id=coast`, {
    method: "DELETE",
    headers: { "x-api-key": apiKey },
  });
  expect(await gone.json()).toEqual({ deleted: 1 });
});

test("OpenAI's own client creates a video from an image, and downloads, lists and deletes it", async () => {
  const video = await openai.videos.create({
    ...{ model: "films", prompt: "From a picture", seconds: "4", size: "1280x720" },
    input_reference: await toFile(PIXEL, "pixel.png", { type: "image/png" }),
  });
  expect(video).toMatchObject({ object: "video", status: "queued", seconds: "4", size: "1280x720", model: "films" });
  await ended(video.id);
  expect(await openai.videos.retrieve(video.id)).toMatchObject({ id: video.id, status: "completed", progress: 100, error: null });
  const made = [...vendor.jobs.values()].find(({ asked }) => asked.prompt === "From a picture");
  expect(new Uint8Array(await made?.asked.input_reference.arrayBuffer())).toEqual(new Uint8Array(PIXEL));
  const content = await openai.videos.downloadContent(video.id);
  expect(new Uint8Array(await content.arrayBuffer())).toEqual(videoBytesOf(made?.id as string));
  expect((await openai.videos.list({ limit: 100 })).data.map(({ id }) => id)).toContain(video.id);
  expect(await openai.videos.delete(video.id)).toEqual({ id: video.id, object: "video.deleted", deleted: true });
  expect(await statusOf(openai.videos.retrieve(video.id))).toBe(404);
  expect(await statusOf(openai.videos.downloadContent(video.id, { variant: "thumbnail" }))).toBe(400);
});

test("on Google's Interactions API tokens are priced by kind, and the file is fetched with the provider's key", async () => {
  const { body } = await llm("POST", "/video/generations", {
    model: "films-google",
    prompt: "Surf",
    resolution: "720p",
    duration_seconds: 5,
  });
  const job = await ended(body.job_id);
  // 20 x $1.50 + 40,000 x $17.50 a million.
  expect(job).toMatchObject({ status: "succeeded", cost_usd: 0.70003 });
  const made = [...vendor.jobs.values()].find(({ form }) => form === "interactions");
  expect(made?.asked).toEqual({
    ...{ model: "gemini-omni-1.1-flash", input: "Surf", background: true },
    response_format: { type: "video", delivery: "uri", resolution: "720p", duration: "5s" },
  });
  const fetched = vendor.seen.find(({ path }) => path.endsWith(":download"));
  expect(fetched?.headers["x-goog-api-key"]).toBe("secret-upstream-key");
  expect((await endRow(job.job_id))[0]).toMatchObject({ llm_completion_tokens: 40_000, media_video_seconds_output: 5 });
});

test("on Vertex AI Veo runs as an operation with the video in its result", async () => {
  const asked = {
    model: "films-vertex",
    prompt: "Dunes",
    resolution: "1080p",
    duration_seconds: 8,
    aspect_ratio: "9:16",
    negative_prompt: "people",
  };
  const job = await ended((await llm("POST", "/video/generations", asked)).body.job_id);
  expect(job).toMatchObject({ status: "succeeded", cost_usd: 3.2 });
  const made = [...vendor.jobs.values()].find(({ form }) => form === "veo");
  expect(made?.asked).toEqual({
    path: "/v1/projects/p/locations/l/publishers/google/models/veo-3.1-generate-001:predictLongRunning",
    instances: [{ prompt: "Dunes" }],
    parameters: { sampleCount: 1, durationSeconds: 8, resolution: "1080p", aspectRatio: "9:16", negativePrompt: "people" },
  });
  expect(await fileBytes(job.output_file_id)).toEqual(videoBytesOf(made?.id as string));
});

test("a job the provider refuses fails with its reason and costs nothing", async () => {
  faults.outcome = () => "failed";
  const ids: string[] = [];
  for (const model of ["films", "films-google", "films-vertex"])
    ids.push((await llm("POST", "/video/generations", { model, prompt: "Bad" })).body.job_id);
  const jobs = [];
  for (const id of ids) jobs.push(await ended(id));
  delete faults.outcome;
  expect(jobs.map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
  expect(jobs.map(({ cost_usd }) => cost_usd)).toEqual([0, 0, 0]);
  expect(jobs.map(({ error }) => error.message)).toEqual(["Not that", "I will not", "Filtered for reasons"]);
  expect((await endRow(ids[0] as string))[0]).toMatchObject({
    success: false,
    error_type: "moderation_blocked",
    llm_estimated_cost_usd: 0,
  });
});

test("a job ends even if its provider's refusal has a NUL character", async () => {
  Object.assign(faults, { outcome: () => "failed", refusal: "Not\0that" });
  const { body } = await llm("POST", "/video/generations", { model: "films", prompt: "Bad" });
  expect(await ended(body.job_id)).toMatchObject({ status: "failed", error: { message: "Not\uFFFDthat" } });
  delete faults.outcome;
  delete faults.refusal;
});

test("invalid requests are refused by field, and none is sent upstream", async () => {
  const before = vendor.jobs.size;
  const fieldsOf = async (body: object) => (await llm("POST", "/video/generations", body)).body;
  const said = async (body: object) => JSON.stringify(await fieldsOf(body));
  expect(await said({ model: "films" })).toContain("prompt");
  expect(await said({ model: "films", prompt: "x", resolution: "4k" })).toContain("resolution");
  expect(await said({ model: "films", prompt: "x", duration_seconds: 6 })).toContain("duration_seconds");
  expect(await said({ model: "films", prompt: "x", duration_seconds: -1 })).toContain("duration_seconds");
  expect(await said({ model: "films-unpriced", prompt: "x", duration_seconds: 4.5 })).toContain(
    "`duration_seconds` must be a whole number",
  );
  expect(await said({ model: "films", prompt: "x", size: "1280x720", resolution: "720p" })).toContain("size");
  expect(await said({ model: "films", prompt: "x", input_reference: { file_id: "file-none" } })).toContain("input_reference.file_id");
  for (const [field, text] of [
    ["chat_id", "a\0b"],
    ["display_name", "\ud800"],
  ] as const) {
    const { status, body } = await llm("POST", "/video/generations", { model: "films", prompt: "x", [field]: text });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  }
  const unnamed = await llm("POST", "/video/generations", { model: "films", prompt: "x", input_reference: { file_id: "a\0b" } });
  expect([unnamed.status, JSON.stringify(unnamed.body)]).toEqual([404, expect.stringContaining("input_reference.file_id")]);
  expect((await llm("POST", "/video/generations", { model: "cannot", prompt: "x" })).status).toBe(400);
  expect((await llm("POST", "/video/generations", { model: "nobody", prompt: "x" })).status).toBe(404);
  expect(vendor.jobs.size).toBe(before);
  const refused = await llm("POST", "/video/generations", { model: "films", prompt: "refused" });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("We do not film that")]);
  expect((await openai.videos.list()).data.every(({ status }) => status !== "queued")).toBe(true);
});

test("a job is cancelled at its provider once, and an ended job is not cancelled", async () => {
  faults.takes = () => 600_000;
  const { body } = await llm("POST", "/video/generations", { model: "films", prompt: "Long" });
  expect((await llm("DELETE", `/video/jobs/${body.job_id}`)).body).toMatchObject({ status: "cancelled" });
  expect((await llm("DELETE", `/video/jobs/${body.job_id}`)).status).toBe(200);
  expect([...vendor.jobs.values()].find(({ asked }) => asked.prompt === "Long")?.cancelled).toBe(true);
  const veo = await llm("POST", "/video/generations", { model: "films-vertex", prompt: "Long too" });
  expect((await llm("DELETE", `/video/jobs/${veo.body.job_id}`)).status).toBe(409);
  delete faults.takes;
  const job = await ended(veo.body.job_id);
  expect(job.status).toBe("succeeded");
  const late = await llm("DELETE", `/video/jobs/${job.job_id}`);
  expect([late.status, late.body.code]).toEqual([409, "video_ended"]);
  expect(await endRow(body.job_id)).toHaveLength(1);
});

test("a video whose model is deleted meanwhile still completes and is charged", async () => {
  const made = { tenant_id: "default", name: "films-gone", model_name: "film-1", provider: "o", mode: "video", video_cost_per_second: 0.1 };
  const { id } = await world.admin.post("/v1/admin/llms", { ...made, group_ids: [groupId] });
  await servedBy([world.gateway], "films-gone", apiKey);
  let isReady = false;
  faults.takes = () => (isReady ? 0 : 600_000);
  const { body } = await llm("POST", "/video/generations", { model: "films-gone", prompt: "Gone", duration_seconds: 4 });
  await world.admin.request("DELETE", `/v1/admin/llms/${id}`);
  await until(
    () => llm("POST", "/video/generations", { model: "films-gone", prompt: "Gone" }),
    ({ status }) => status === 404,
  );
  isReady = true;
  expect(await ended(body.job_id)).toMatchObject({ status: "succeeded", cost_usd: 0.4 });
  delete faults.takes;
});

test("another group's job is not found", async () => {
  const { body } = await llm("POST", "/video/generations", { model: "films", prompt: "Ours" });
  const { id } = await world.admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "others", group_type: "team" });
  const { key_value: theirs } = await world.admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "k", access_mode: "shared" });
  for (const [method, path] of [
    ["GET", `/video/jobs/${body.job_id}`],
    ["DELETE", `/video/jobs/${body.job_id}`],
    ["GET", `/videos/${body.job_id}`],
    ["GET", `/videos/${body.job_id}/content`],
    ["DELETE", `/videos/${body.job_id}`],
  ] as const)
    expect((await llm(method, path, undefined, theirs)).status).toBe(404);
  await ended(body.job_id);
});
