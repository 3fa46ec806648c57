import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { rowsOf, type Served, serveModels } from "../support/admin.ts";
import { batchCaller, chatLines } from "../support/batch.ts";
import { newTeam } from "./mcp-harness.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
let served: Served;
let openai: OpenAI;
let caller: ReturnType<typeof batchCaller>;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  openai = new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey: served.apiKey });
  caller = batchCaller(world.gateway.runtimeUrl, served.apiKey);
});
afterAll(() => world.end());

const line = (at: number, model = "fake-1", more: object = {}) => ({
  custom_id: `r${at}`,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model, messages: [{ role: "user", content: `question ${at}` }] },
  ...more,
});
const upload = async (lines: readonly unknown[]) =>
  openai.files.create({
    purpose: "batch",
    file: await toFile(Buffer.from(lines.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n")), "in.jsonl"),
  });
const create = async (lines: readonly unknown[]) =>
  openai.batches.create({ input_file_id: (await upload(lines)).id, endpoint: "/v1/chat/completions", completion_window: "24h" });

const failure = (asked: PromiseLike<unknown>) =>
  asked.then(
    () => "it was served",
    (error: Error) => error.message,
  );

async function over(id: string) {
  await caller.until(id);
  return openai.batches.retrieve(id);
}

test("OpenAI's client makes a batch of a file and reads what it came to", async () => {
  const made = await create(Array.from({ length: 12 }, (_, at) => line(at)));
  expect(made).toMatchObject({ object: "batch", status: "in_progress", errors: null, request_counts: { total: 12 } });
  const batch = await over(made.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 12, completed: 12, failed: 0 }, error_file_id: null });
  expect(batch.usage?.total_tokens).toBe(12 * 1500);
  expect(batch.completed_at).toBeGreaterThanOrEqual(batch.created_at);
  const output = await (await openai.files.content(batch.output_file_id ?? "")).text();
  const results = output
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text));
  expect(results.map(({ custom_id: id }) => id)).toEqual(Array.from({ length: 12 }, (_, at) => `r${at}`));
  expect(results[0].response.body.choices[0].message.content).toBe("Grüße aus Übersee 👋");
  const listed = [];
  for await (const one of openai.batches.list({ limit: 1 })) listed.push(one.id);
  expect(listed).toContain(made.id);
  expect(await failure(openai.batches.cancel(made.id))).toMatch(/completed/);
});

test("a file whose lines are wrong is a batch that failed, naming line and field", async () => {
  const batch = await create([line(0), "{not json", line(0), line(2, "fake-1", { url: "/v1/embeddings" }), { custom_id: "x" }]);
  expect(batch.status).toBe("failed");
  expect(batch.errors?.data?.map(({ line: at, param, code }) => [at, param, code])).toEqual([
    [2, null, "invalid_json_line"],
    [3, "custom_id", "duplicate_custom_id"],
    [4, "url", "invalid_url"],
    [5, "method", "invalid_method"],
    [5, "url", "invalid_url"],
    [5, "body", "invalid_line"],
  ]);
  const request = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  expect(await failure(openai.batches.create({ ...request, input_file_id: "file-of-nobody" }))).toMatch(/input_file_id/);
  expect(await failure(create(["\n"]))).toMatch(/input_file_id/);
  expect(await failure(create([line(0, "not-granted")]))).toMatch(/no model/);
});

test("each line passes guardrails of its own surface, in and out", async () => {
  await world.admin.post("/v1/admin/guardrails/configs", {
    name: "batches",
    group_ids: [served.groupId],
    surfaces: { batch_input: true, batch_output: true },
    builtin: { banned_words: ["titan"] },
  });
  const made = await caller.submit({ model: "fake-1", requests: chatLines(3, (at) => (at === 1 ? "project titan" : "hello")) });
  const job = await caller.until(made.body.id);
  expect(job.request_counts).toMatchObject({ completed: 2, failed: 1 });
  const blocked = (await caller.results(job.id))[1];
  expect(blocked).toMatchObject({ response: { status_code: 403 }, error: { code: "guardrail_blocked" } });
  const rows = await rowsOf(world.admin, { proxy_subtype: "batch_line", parent_request_id: job.id, guardrail_blocked: true }, 1);
  expect(rows).toHaveLength(1);
  const chat = await caller.send("POST", "/v1/proxy/llm/chat/completions", {
    model: "fake-1",
    messages: [{ role: "user", content: "project titan" }],
  });
  expect(chat.status).toBe(200);
});

test("a job that spent what there is to spend waits and says why, and takes no new lines meanwhile", async () => {
  const team = await newTeam(world.admin, "spenders");
  await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/llm-models`, { model_ids: [served.models["fake-1"]] });
  const limited = { llm_global_limits: { requests: { daily_limit: 3 } } };
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${team.groupId}/llm-global-limits`, limited);
  const spender = batchCaller(world.gateway.runtimeUrl, team.apiKey);
  const { body: made } = await spender.submit({ model: "fake-1", requests: chatLines(8) });
  const paused = await spender.until(made.id, (job) => job.paused !== null && job.request_counts.completed === 3);
  expect(paused).toMatchObject({ status: "in_progress", paused: { code: "usage_limit_reached" } });
  expect(Date.parse(paused.paused.until)).toBeGreaterThan(Date.now());
  const refused = await spender.submit({ model: "fake-1", requests: chatLines(1) });
  expect(refused.status).toBe(429);
  expect((await spender.send("POST", `/v1/proxy/batch/jobs/${made.id}/cancel`, {})).body.status).toBe("cancelling");
  expect((await spender.until(made.id)).request_counts).toMatchObject({ completed: 3, cancelled: 5 });
});
