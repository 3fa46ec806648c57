import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { startVideoVendor, type VideoFaults, type VideoVendor } from "../../support/vendors/video-vendor.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What restricts videos: guardrails on prompts and results, media governance, and budgets held while a job runs. */
const faults: VideoFaults = {};
let world: World;
let vendor: VideoVendor;

beforeAll(async () => {
  vendor = startVideoVendor(faults);
  world = await startWorld();
  await world.admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "o", api_format: "openai", base_url: `${vendor.origin}/v1` },
  });
});
afterAll(async () => {
  await world.end();
  await vendor.stop();
});

/** Creates a group with a model of its own and a key. */
async function team(name: string, more: object = {}): Promise<{ readonly groupId: string; readonly apiKey: string }> {
  const { admin } = world;
  const { id: groupId } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" });
  const model = {
    tenant_id: "default",
    name: `films-${name}`,
    model_name: "film-1",
    provider: "o",
    mode: "video",
    video_cost_per_second: 0.1,
    ...more,
  };
  await admin.post("/v1/admin/llms", { ...model, group_ids: [groupId], max_video_duration_seconds: 10 });
  const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: "k", access_mode: "shared" });
  return { groupId, apiKey };
}

async function call(apiKey: string, method: string, path: string, body?: object) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/video${path}`, {
    method,
    headers: { "x-api-key": apiKey, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

const ended = (apiKey: string, id: string) =>
  until(
    () => call(apiKey, "GET", `/jobs/${id}`),
    ({ status, body }) => status !== 200 || !["queued", "in_progress"].includes(body.status),
  );

test("guardrails inspect prompts and the provider's result message", async () => {
  const { groupId, apiKey } = await team("guarded");
  await world.admin.post("/v1/admin/guardrails/configs", {
    ...{ tenant_id: "default", name: "words of films", enabled: true, group_ids: [groupId] },
    surfaces: { video_gen_input: true, video_gen_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["project titan", "Not that"] },
  });
  const before = vendor.jobs.size;
  const asked = { model: "films-guarded", duration_seconds: 4 };
  const blocked = await call(apiKey, "POST", "/generations", { ...asked, prompt: "The ship of Project Titan" });
  expect([blocked.status, JSON.stringify(blocked.body)]).toEqual([403, expect.stringContaining("banned_words")]);
  const hidden = await call(apiKey, "POST", "/generations", { ...asked, prompt: "x", negative_prompt: "project titan" });
  expect(hidden.status).toBe(403);
  expect(vendor.jobs.size).toBe(before);
  const { body } = await call(apiKey, "POST", "/generations", { ...asked, prompt: "The face of jane.doe@example.com" });
  expect([...vendor.jobs.values()].at(-1)?.asked.prompt).not.toContain("jane.doe");
  expect((await ended(apiKey, body.job_id)).body.status).toBe("succeeded");
  faults.outcome = () => "failed";
  const refused = await call(apiKey, "POST", "/generations", { ...asked, prompt: "Bad" });
  const told = await ended(apiKey, refused.body.job_id);
  delete faults.outcome;
  expect(told.status).toBe(403);
});

test("media governance limits resolution and duration and requires inputs", async () => {
  const { groupId, apiKey } = await team("governed");
  const govern = (video: object) =>
    world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/media-governance`, { media_governance: { video } });
  expect((await govern({ resolution_whitelist: ["720p"], max_duration_seconds: 6 })).status).toBe(200);
  const ask = (more: object) => call(apiKey, "POST", "/generations", { model: "films-governed", prompt: "A boat", ...more });
  const fieldOf = async (more: object) => {
    const { status, body } = await ask(more);
    return `${status} ${JSON.stringify(body)}`;
  };
  expect(await fieldOf({ resolution: "1080p", duration_seconds: 4 })).toMatch(/^400 .*resolution/);
  expect(await fieldOf({ resolution: "720p", duration_seconds: 8 })).toMatch(/^400 .*duration_seconds/);
  expect(await fieldOf({ resolution: "720p" })).toMatch(/^400 .*max_duration_seconds/);
  // The same request in OpenAI's members, then one whose missing resolution is filled in.
  expect((await ask({ size: "1280x720", seconds: "4" })).status).toBe(200);
  const chosen = await ask({ duration_seconds: 4 });
  expect([chosen.status, chosen.headers.get("x-gw-parameters-clamped")]).toEqual([200, expect.stringContaining("resolution")]);
  expect([...vendor.jobs.values()].at(-1)?.asked.size).toBe("1280x720");
  expect((await govern({ require_image_input: true })).status).toBe(200);
  expect(await fieldOf({ duration_seconds: 4, resolution: "720p" })).toMatch(/^400 .*input_reference/);
});

test("a budget holds a job's worst case until it ends, then counts its actual cost", async () => {
  const { groupId, apiKey } = await team("frugal");
  const limits = { llm_global_limits: { budget: { daily_limit_usd: 1, hard_stop: true } } };
  expect((await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits)).status).toBe(200);
  const film = (prompt: string) => call(apiKey, "POST", "/generations", { model: "films-frugal", prompt, duration_seconds: 8 });
  // 8 s at $0.10: no second job fits while the first may still cost that much.
  faults.takes = () => 600_000;
  const first = await film("first");
  expect(first.status).toBe(200);
  const held = await film("second");
  expect([held.status, held.body.usage_limit !== undefined || JSON.stringify(held.body)]).toEqual([429, true]);
  expect((await call(apiKey, "DELETE", `/jobs/${first.body.job_id}`)).body.status).toBe("cancelled");
  delete faults.takes;
  // The first job cost nothing, so there is room again.
  const third = await until(
    () => film("third"),
    ({ status }) => status !== 429,
  );
  expect(third.status).toBe(200);
  expect((await ended(apiKey, third.body.job_id)).body).toMatchObject({ status: "succeeded", cost_usd: 0.8 });
  expect((await film("fourth")).status).toBe(429);
  // A job within what is left passes.
  expect((await call(apiKey, "POST", "/generations", { model: "films-frugal", prompt: "short", duration_seconds: 1 })).status).toBe(200);
  await until(
    () => world.admin.get(`/v1/admin/resource-groups/${groupId}/consumption`),
    ({ limits: told }) => told.some((one: any) => one.limit_type === "daily_budget" && Math.abs(one.current - 0.9) < 1e-6),
  );
});

test("a job's hold in a parent group survives moves of other branches and moves with its own group", async () => {
  const { admin } = world;
  const newGroup = (name: string, parent?: string) =>
    admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, ...(parent !== undefined && { parent_group_id: parent }) });
  const { id: root } = await newGroup("studio");
  const limits = { budget: { daily_limit_usd: 1, hard_stop: true } };
  await admin.request("PATCH", `/v1/admin/resource-groups/${root}/llm-global-limits`, { llm_global_limits: limits });
  const [films, shorts] = [await team("films"), await team("shorts")];
  const { id: idle } = await newGroup("idle", root);
  const { id: elsewhere } = await newGroup("elsewhere");
  const move = async (id: string, parent: string) =>
    expect((await admin.request("PATCH", `/v1/admin/resource-groups/${id}`, { parent_group_id: parent })).status).toBe(200);
  for (const { groupId } of [films, shorts]) await move(groupId, root);
  const film = (of: typeof films, name: string, seconds: number) =>
    call(of.apiKey, "POST", "/generations", { model: `films-${name}`, prompt: "A boat", duration_seconds: seconds });
  const { apiKey, groupId } = films;
  faults.takes = () => 600_000;
  const first = await film(films, "films", 6);
  expect(first.status).toBe(200);
  expect((await film(shorts, "shorts", 6)).status).toBe(429);
  const later = (model: string) => call(shorts.apiKey, "POST", "/generations", { model, prompt: "A boat", duration_seconds: 6 });
  /** The answer to a call once a model created after the move is visible, and so the move is too. */
  const toldAfter = async (model: string) => {
    await admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name: model, model_name: "film-1", provider: "o", mode: "video" },
      ...{ video_cost_per_second: 0.1, group_ids: [shorts.groupId] },
    });
    const { status, body } = await until(
      () => later(model),
      (told) => told.status !== 404,
    );
    return `${status} ${JSON.stringify(body)}`;
  };
  await move(idle, elsewhere);
  expect(await toldAfter("made after the first move")).toMatch(/^429 .*daily_budget/);
  await move(groupId, elsewhere);
  expect(await toldAfter("made after the second move")).toMatch(/^429 .*daily_budget/);
  delete faults.takes;
  expect((await ended(apiKey, first.body.job_id)).body).toMatchObject({ status: "succeeded", cost_usd: 0.6 });
  // It ended in the other group, and its cost counts there.
  expect(
    (
      await until(
        () => later("films-shorts"),
        ({ status }) => status === 200,
      )
    ).status,
  ).toBe(200);
});

test("a video priced by tokens holds them while it runs, and counts them in quotas and rates at its end", async () => {
  const { admin } = world;
  await admin.post("/v1/admin/providers", { tenant_id: "default", provider_key: "g", api_format: "gemini", base_url: vendor.origin });
  const { groupId, apiKey } = await team("thrifty", {
    ...{ provider: "g", model_name: "gemini-omni-1.1-flash", video_cost_per_second: null },
    ...{ input_cost_per_million_tokens: 1.5, output_cost_per_million_tokens: 3 },
  });
  const limits = { tokens: { daily_limit: 100_000 }, throughput: { max_output_tokens_per_minute: 30_000 } };
  const set = { llm_global_limits: limits };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, set)).status).toBe(200);
  const film = () => call(apiKey, "POST", "/generations", { model: "films-thrifty", prompt: "A boat", duration_seconds: 8 });
  const refusedBy = async () => {
    const { status, body } = await film();
    return `${status} ${JSON.stringify(body)}`;
  };
  // 8 s may use 80,000 tokens.
  faults.takes = () => 600_000;
  const first = await film();
  expect(first.status).toBe(200);
  expect(await refusedBy()).toMatch(/^429 .*daily_tokens/);
  delete faults.takes;
  expect((await ended(apiKey, first.body.job_id)).body.status).toBe("succeeded");
  // It used 40,000, more than the rate limit allows in a minute.
  expect(await until(refusedBy, (refused) => refused.includes("output_tokens_per_minute"))).toMatch(/^429/);
});
