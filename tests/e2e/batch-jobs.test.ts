import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, rowsOf, type Served, serveModels } from "../support/admin.ts";
import { batchCaller, chatLines, heldUpstream } from "../support/batch.ts";
import { newPerson } from "../support/portal.ts";
import { startWorld, type World } from "../support/world.ts";
import { newTeam, type Team } from "./mcp-harness.ts";

let world: World;
let served: Served;
let others: Team;
let caller: ReturnType<typeof batchCaller>;

beforeAll(async () => {
  world = await startWorld({ GW_BATCH_LINES_AT_ONCE: "4" });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "broken", "bad-request"]);
  others = await newTeam(world.admin, "neighbours");
  caller = batchCaller(world.gateway.runtimeUrl, served.apiKey);
});
afterAll(() => world.end());

test("a job is taken, carried out line by line on the record, and answers in the order of its input", async () => {
  const made = await caller.submit(
    { model: "fake-1", requests: chatLines(25), description: "nightly", metadata: { who: "us" } },
    { "x-correlation-id": "the-night", "x-gw-run-id": "run-of-the-night" },
  );
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    status: "in_progress",
    total_requests: 25,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    mode: "gateway",
    request_counts: { total: 25, completed: 0, failed: 0, cancelled: 0, expired: 0 },
  });
  const job = await caller.until(made.body.id);
  expect(job).toMatchObject({ status: "completed", request_counts: { total: 25, completed: 25, failed: 0 }, error: null });
  const results = await caller.results(job.id);
  expect(results.map(({ custom_id: id }) => id)).toEqual(chatLines(25).map(({ custom_id: id }) => id));
  expect(results[3]).toMatchObject({ error: null, response: { status_code: 200, body: { object: "chat.completion" } } });

  const submit = await rowOf(world.admin, { id: made.headers.get("x-request-id") });
  expect(submit).toMatchObject({ proxy_type: "batch", proxy_subtype: "batch_submit", llm_model_requested: "fake-1", success: true });
  const lines = await rowsOf(world.admin, { proxy_subtype: "batch_line", parent_request_id: job.id }, 25);
  expect(new Set(lines.map(({ id }) => id))).toEqual(new Set(results.map(({ response }) => response.request_id)));
  expect(lines[0]).toMatchObject({
    proxy_type: "batch",
    llm_model_used: "fake-1",
    correlation_id: "the-night",
    root_task_id: submit.root_task_id,
    resource_group_id: served.groupId,
    custom_metadata: { batch: { job_id: job.id, attempt: 1 } },
  });
  const cost = lines.reduce((sum, { llm_estimated_cost_usd: usd }) => sum + Number(usd), 0);
  expect(job.cost_usd).toBeCloseTo(cost, 6);
  expect(await rowOf(world.admin, { proxy_subtype: "batch_end", parent_request_id: submit.id })).toMatchObject({
    custom_metadata: { batch: { job_id: job.id, status: "completed", counts: { completed: 25 } } },
  });

  const page = await caller.send("GET", `/v1/proxy/batch/jobs/${job.id}/results?page=2&page_size=10`);
  expect([page.body.total, page.body.page, page.body.results[0].custom_id]).toEqual([25, 2, "c10"]);
  const list = await caller.send("GET", "/v1/proxy/batch/jobs?status=completed&page_size=1");
  expect(list.body).toMatchObject({ page: 1, page_size: 1, jobs: [{ id: job.id }] });
  const output = await caller.send("GET", `/v1/proxy/files/${job.output_file_id}/content`);
  expect(output.text.split("\n").filter(Boolean)).toHaveLength(25);
});

test("what is wrong with a line is told by line and field, and nothing is kept", async () => {
  const before = (await caller.send("GET", "/v1/proxy/batch/jobs")).body.total;
  const wrong = await caller.submit({
    model: "fake-1",
    requests: [
      ...chatLines(1),
      { custom_id: "c0", body: { messages: [{ role: "user", content: "twice" }] } },
      { custom_id: "x", body: { messages: "none" } },
      { custom_id: "y", body: { messages: [], stream: true } },
      { body: {} },
      { custom_id: "z", body: { model: "another", messages: [{ role: "user", content: "hi" }] } },
      "no object",
    ],
  });
  expect([wrong.status, wrong.body.code]).toEqual([400, "batch_invalid"]);
  for (const named of [
    "requests[1].custom_id",
    "requests[2].body.messages",
    "requests[3].body.stream",
    "requests[4].custom_id",
    "requests[5].body.model",
    "requests[6]",
  ])
    expect(wrong.body.error).toContain(named);
  for (const body of [
    { model: "fake-1", requests: [] },
    { requests: chatLines(1) },
    { model: "fake-1", requests: chatLines(1), completion_window: "30d" },
    { model: "fake-1", requests: chatLines(1), endpoint: "/v1/files" },
    { model: "fake-1", requests: chatLines(1), more: 1 },
  ])
    expect((await caller.submit(body)).status).toBe(400);
  const twice = await caller.submit({ model: "fake-1", requests: [{ custom_id: "w", Custom_ID: "v", body: {} }] });
  expect([twice.status, twice.body.code]).toEqual([400, "ambiguous_name"]);
  expect((await caller.submit({ model: "nowhere", requests: chatLines(1) })).status).toBe(404);
  expect((await batchCaller(world.gateway.runtimeUrl, others.apiKey).submit({ model: "fake-1", requests: chatLines(1) })).status).toBe(403);
  expect((await caller.send("GET", "/v1/proxy/batch/jobs")).body.total).toBe(before);
});

test("a job is its group's and its tenant's, a person's job theirs alone", async () => {
  const { body: job } = await caller.submit({ model: "fake-1", requests: chatLines(1) });
  const stranger = batchCaller(world.gateway.runtimeUrl, others.apiKey);
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/results"],
    ["POST", "/cancel"],
  ] as const)
    expect((await stranger.send(method, `/v1/proxy/batch/jobs/${job.id}${path}`, method === "POST" ? {} : undefined)).status).toBe(404);
  expect((await stranger.send("GET", "/v1/proxy/batch/jobs")).body.jobs).toEqual([]);
  const mary = await newPerson(world.gateway.runtimeUrl, "batch-mary");
  const members = await world.admin.post("/v1/admin/end-user-groups", { name: "batchers", initial_member_ids: [mary.id] });
  await world.admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [served.groupId] });
  const asMary = { "x-api-key": "", "x-gateway-authorization": `Bearer ${mary.token}` };
  const hers = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs`, {
    method: "POST",
    headers: { "x-gateway-authorization": asMary["x-gateway-authorization"], "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", requests: chatLines(2) }),
  });
  expect(hers.status).toBe(201);
  const { id } = (await hers.json()) as { id: string };
  expect((await caller.send("GET", `/v1/proxy/batch/jobs/${id}`)).status).toBe(404);
  const lines = await rowsOf(world.admin, { proxy_subtype: "batch_line", parent_request_id: id }, 2);
  expect(lines[0]).toMatchObject({ gateway_user_id: mary.id, success: true });
});

test("lines that fail say so, and a provider that fails is asked again", async () => {
  const { body: made } = await caller.submit({ model: "bad-request", requests: chatLines(2) });
  const job = await caller.until(made.id);
  expect(job).toMatchObject({ status: "completed", request_counts: { completed: 0, failed: 2 } });
  const [result] = await caller.results(job.id);
  expect(result.response.status_code).toBe(400);
  expect(result.error.code).toBe("upstream_rejected");
  const errors = await caller.send("GET", `/v1/proxy/files/${job.error_file_id}/content`);
  expect(errors.text.split("\n").filter(Boolean)).toHaveLength(2);
  expect(job.output_file_id).toBeNull();

  const { body: failing } = await caller.submit({ model: "broken", requests: chatLines(1) });
  const failed = await caller.until(failing.id);
  expect(failed.request_counts.failed).toBe(1);
  const tries = await rowsOf(world.admin, { proxy_subtype: "batch_line", parent_request_id: failed.id }, 2);
  expect(tries.length).toBeGreaterThan(1);
});

test("a cancelled job keeps what is done, and a job whose key is revoked ends and says why", async () => {
  const upstream = heldUpstream();
  const slow = await serveModels(world.admin, upstream.baseUrl, ["slow"], { group: "slow", providerKey: "slow" });
  const waiting = batchCaller(world.gateway.runtimeUrl, slow.apiKey);
  const { body: made } = await waiting.submit({ model: "slow", requests: chatLines(20) });
  await waiting.until(made.id, () => upstream.asked.length === 4);
  const cancelling = await waiting.send("POST", `/v1/proxy/batch/jobs/${made.id}/cancel`, {});
  expect(cancelling.body.status).toBe("cancelling");
  upstream.release();
  const cancelled = await waiting.until(made.id);
  expect(cancelled.status).toBe("cancelled");
  expect(cancelled.request_counts).toEqual({ total: 20, completed: 4, failed: 0, cancelled: 16, expired: 0 });
  expect((await waiting.results(made.id)).at(-1)).toMatchObject({ response: null, error: { code: "batch_cancelled" } });
  expect((await waiting.send("POST", `/v1/proxy/batch/jobs/${made.id}/cancel`, {})).status).toBe(409);
  upstream.stop();

  const key = await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name: "soon gone", access_mode: "shared" });
  const doomed = batchCaller(world.gateway.runtimeUrl, key.key_value);
  const { body: last } = await doomed.submit({ model: "fake-1", requests: chatLines(2_000) });
  await world.admin.request("DELETE", `/v1/admin/api-keys/${key.id}`);
  const over = await caller.until(last.id);
  expect(over).toMatchObject({ status: "failed", request_counts: { total: 2_000, expired: 0, cancelled: 0 } });
  expect(over.error.code).toMatch(/^credential_revoked$|^access_ended$/);
  expect(over.request_counts.failed).toBeGreaterThan(1_000);
});
