import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf } from "../../support/worlds/admin.ts";
import { BEDROCK_KEY, VERTEX_TOKEN } from "../../support/vendors/bucket-batch-vendors.ts";
import { startNovaReel, startVeo } from "../../support/vendors/bucket-video-vendors.ts";
import { until } from "../../support/until.ts";
import { videoBytesOf } from "../../support/vendors/video-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Videos that providers put into a bucket of the tenant's own. */

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
let world: World;
let reel: ReturnType<typeof startNovaReel>;
let veo: ReturnType<typeof startVeo>;
let apiKey: string;

beforeAll(async () => {
  reel = startNovaReel();
  veo = startVeo();
  world = await startWorld();
  const { admin } = world;
  const { id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  const provider = (provider_key: string, more: object) =>
    admin.post("/v1/admin/providers", { tenant_id: "default", provider_key, ...more });
  const bedrock = { api_format: "bedrock", base_url: reel.baseUrl, region: "eu-central-1" };
  const storage = { storage_uri: "s3://acme/films", storage_endpoint: reel.storeUrl };
  await provider("aws", { ...bedrock, api_key: BEDROCK_KEY, ...storage });
  await provider("aws-bare", { ...bedrock, api_key: BEDROCK_KEY });
  await provider("aws-bearer", { ...bedrock, api_key: "a-bearer-key-of-bedrock", ...storage });
  await provider("google", {
    ...{ api_format: "vertex", base_url: `${veo.baseUrl}/v1/projects/p/locations/l`, api_key: VERTEX_TOKEN },
    ...{ storage_uri: "gs://acme/films", storage_endpoint: veo.baseUrl },
  });
  const model = (name: string, model_name: string, key: string) =>
    admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name, model_name, provider: key, mode: "video", group_ids: [groupId], video_cost_per_second: 0.1 },
    });
  await model("reel", "amazon.nova-reel-v1:1", "aws");
  await model("reel-bare", "amazon.nova-reel-v1:1", "aws-bare");
  await model("reel-bearer", "amazon.nova-reel-v1:1", "aws-bearer");
  await model("claude", "anthropic.claude-v1", "aws");
  await model("veo", "veo-3.1-generate-001", "google");
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" }));
});
afterAll(async () => {
  await world.end();
  await Promise.all([reel.stop(), veo.stop()]);
});

async function llm(method: string, path: string, body?: unknown) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm${path}`, {
    method,
    headers: { "x-api-key": apiKey, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as any };
}
async function ended(id: string): Promise<any> {
  const { body } = await until(
    () => llm("GET", `/video/jobs/${id}`),
    (answer) => !["queued", "in_progress"].includes(answer.body.status),
  );
  return body;
}
async function filmed(body: object): Promise<any> {
  const { body: made } = await llm("POST", "/video/generations", body);
  return ended(made.job_id);
}
async function fileBytes(id: string): Promise<Uint8Array> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/files/${id}/content`, { headers: { "x-api-key": apiKey } });
  return new Uint8Array(await response.arrayBuffer());
}

test("Nova Reel writes its video to the bucket, from where the gateway fetches it", async () => {
  const job = await filmed({
    ...{ model: "reel", prompt: "Dunes", resolution: "720p", duration_seconds: 6, aspect_ratio: "16:9", seed: 7 },
    input_reference: { image_url: `data:image/png;base64,${PIXEL}` },
  });
  expect(job).toMatchObject({ status: "succeeded", cost_usd: 0.6 });
  const [film] = reel.films;
  expect(film?.asked).toEqual({
    modelId: "amazon.nova-reel-v1:1",
    modelInput: {
      taskType: "TEXT_VIDEO",
      textToVideoParams: { text: "Dunes", images: [{ format: "png", source: { bytes: PIXEL } }] },
      videoGenerationConfig: { durationSeconds: 6, fps: 24, dimension: "1280x720", seed: 7 },
    },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: "s3://acme/films" } },
    clientRequestToken: expect.any(String),
  });
  expect(await fileBytes(job.output_file_id)).toEqual(videoBytesOf(film?.id as string));
});

test("a failed Nova Reel video reports the error and costs nothing, and it cannot be cancelled", async () => {
  const { body } = await llm("POST", "/video/generations", { model: "reel", prompt: "Bad" });
  expect((await llm("DELETE", `/video/jobs/${body.job_id}`)).body).toMatchObject({ code: "video_not_cancellable" });
  expect(await ended(body.job_id)).toMatchObject({ status: "failed", cost_usd: 0, error: { message: "The text was blocked" } });
});

test("parameters Nova Reel does not support, and a missing bucket, are refused by field before the provider is called", async () => {
  const before = reel.films.length;
  const refused = async (more: object) => {
    const { status, body } = await llm("POST", "/video/generations", { model: "reel", prompt: "Dunes", ...more });
    return [status, JSON.stringify(body)];
  };
  expect(await refused({ duration_seconds: 8 })).toEqual([400, expect.stringContaining("must be 6 for")]);
  expect(await refused({ resolution: "1080p" })).toEqual([400, expect.stringContaining("720p or 1280x720")]);
  expect(await refused({ aspect_ratio: "9:16" })).toEqual([400, expect.stringContaining("must be 16:9")]);
  expect(await refused({ model: "claude" })).toEqual([400, expect.stringContaining("unsupported_parameter")]);
  expect(await refused({ model: "reel-bare" })).toEqual([400, expect.stringContaining("storage_uri is not set")]);
  expect(await refused({ model: "reel-bearer" })).toEqual([502, expect.stringContaining("upstream_auth_failed")]);
  expect(reel.films.length).toBe(before);
  const rows = await rowsOf(world.admin, { proxy_subtype: "video_generations", error_type: "upstream_auth_failed" }, 1);
  expect(rows[0]?.error_message).toContain("opens no bucket");
});

test("Veo writes its video to the provider's bucket if there is one", async () => {
  const job = await filmed({ model: "veo", prompt: "Dunes", duration_seconds: 8 });
  expect(job).toMatchObject({ status: "succeeded", cost_usd: 0.8 });
  const [film] = veo.films;
  expect(film?.asked.parameters).toEqual({ sampleCount: 1, durationSeconds: 8, storageUri: "gs://acme/films" });
  expect(await fileBytes(job.output_file_id)).toEqual(videoBytesOf(film?.id as string));
});
