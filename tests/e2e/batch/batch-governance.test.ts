import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { nextLook, until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Each line of a batch is governed like a call, and a batch does not slow down other callers. */

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, [
    { name: "fake-1", input_cost_per_million_tokens: 1000, output_cost_per_million_tokens: 1000 },
  ]);
});
afterAll(() => world.end());

const granted: string[] = [];
async function team(name: string): Promise<Team> {
  const made = await newTeam(world.admin, name);
  granted.push(made.groupId);
  await world.admin.request("PATCH", `/v1/admin/llms/${served.models["fake-1"]}`, { group_ids: [served.groupId, ...granted] });
  return made;
}

async function api(key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { ...(key.includes(".") ? { authorization: `Bearer ${key}` } : { "x-api-key": key }), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const asks = (text: string, i = 0) => ({
  custom_id: `${text.slice(0, 20)} ${i}`,
  body: { messages: [{ role: "user", content: text }], max_tokens: 500 },
});
const many = (text: string, count: number) => Array.from({ length: count }, (_, i) => asks(text, i));
const submit = async (key: string, requests: unknown[]) => JSON.parse((await api(key, "POST", "", { model: "fake-1", requests })).text);

async function jobOf(key: string, id: string, holds: (job: any) => boolean): Promise<any> {
  for (const begun = Date.now(); ; await nextLook(begun)) {
    const job = JSON.parse((await api(key, "GET", `/${id}`)).text);
    if (holds(job) || Date.now() > begun + PATIENCE_MS) return job;
  }
}
const ended = (key: string, id: string) => jobOf(key, id, ({ ended_at: at }) => at !== null);
const results = async (key: string, id: string) =>
  (await api(key, "GET", `/${id}/results`)).text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("guardrails on batch input and output inspect each line's request and response", async () => {
  const guarded = await team("guarded batch");
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "batch guard",
    group_ids: [guarded.groupId],
    surfaces: { batch_input: true, batch_output: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["dynamite"] },
  });
  const { id } = await submit(guarded.apiKey, [asks("write to joe@example.com"), asks("sell dynamite"), asks("hello")]);
  expect(await ended(guarded.apiKey, id)).toMatchObject({ status: "completed", request_counts: { completed: 2, failed: 1 } });
  expect((await results(guarded.apiKey, id)).map(({ response, error }) => [response.status_code, error?.code ?? null])).toEqual([
    [200, null],
    [403, "guardrail_blocked"],
    [200, null],
  ]);
  const asked = world.upstream.seen.map(({ body }) => JSON.parse(body).messages[0].content);
  expect(asked).toContain("write to [REDACTED:email]");
  expect(asked).not.toContain("sell dynamite");
  const [row] = await rowsOf(world.admin, { proxy_type: "batch", error_type: "guardrail_blocked" }, 1);
  expect(row.custom_metadata.batch).toMatchObject({ job_id: id, line: 2 });
});

test("a guardrail on chat calls also applies to the same call as a batch line", async () => {
  const guarded = await team("guarded chat");
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "chat guard",
    group_ids: [guarded.groupId],
    surfaces: { chat_input: true, chat_output: true },
    builtin: { banned_words: ["petard"], banned_words_surfaces: ["chat_input"] },
  });
  const { id } = await submit(guarded.apiKey, [asks("hoist a petard"), asks("hoist a flag")]);
  expect(await ended(guarded.apiKey, id)).toMatchObject({ request_counts: { completed: 1, failed: 1 } });
  expect((await results(guarded.apiKey, id)).map(({ error }) => error?.code ?? null)).toEqual(["guardrail_blocked", null]);
  expect(world.upstream.seen.some(({ body }) => body.includes("petard"))).toBe(false);
});

test("a job whose budget is used up pauses with the reason, and continues when the budget is raised", async () => {
  const poor = await team("poor batch");
  // An answer costs $1.50.
  const set = (usd: number) =>
    world.admin.request("PATCH", `/v1/admin/resource-groups/${poor.groupId}/llm-global-limits`, {
      llm_global_limits: { budget: { daily_limit_usd: usd, hard_stop: true } },
    });
  await set(12);
  // Wait until every process has the change.
  const chat = () =>
    fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": poor.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ model: "fake-1", max_tokens: 500, messages: [{ role: "user", content: "x" }] }),
    });
  await until(async () => (await chat()).headers.has("x-gw-usage-utilization"));
  const { id } = await submit(poor.apiKey, many("poor", 20));
  const waiting = await jobOf(poor.apiKey, id, ({ error }) => error !== null);
  expect(waiting).toMatchObject({ status: "in_progress", error: { code: "usage_limit_reached" } });
  expect(waiting.paused_until).not.toBeNull();
  await set(500);
  expect(await ended(poor.apiKey, id)).toMatchObject({ status: "completed", request_counts: { completed: 20 }, error: null });
  // A cancelled job no longer waits, and no longer shows why it did.
  const called = await submit(poor.apiKey, many("called off", 400));
  expect((await jobOf(poor.apiKey, called.id, ({ error }) => error !== null)).error.code).toBe("usage_limit_reached");
  await api(poor.apiKey, "POST", `/${called.id}/cancel`);
  expect(await ended(poor.apiKey, called.id)).toMatchObject({ status: "cancelled", error: null, paused_until: null });
});

test("an end user's job is visible only to that person and runs in their name", async () => {
  const person = await newPerson(world.gateway.runtimeUrl, "batcher");
  await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: served.groupId });
  const { id } = await submit(person.token as string, [asks("mine")]);
  expect(await ended(person.token as string, id)).toMatchObject({ status: "completed" });
  expect((await api(served.apiKey, "GET", `/${id}`)).status).toBe(404);
  const [row] = await rowsOf(world.admin, { proxy_subtype: "batch_line_chat_completions", gateway_user_id: person.id }, 1);
  expect(row).toMatchObject({ subject_kind: "user", api_key_id: null });
});

test("deleting the model ends its jobs as failed", async () => {
  const doomed = await serveModels(world.admin, world.upstream.baseUrl, ["doomed-1"], { group: "doomed", providerKey: "doomed" });
  const made = await api(doomed.apiKey, "POST", "", { model: "doomed-1", requests: many("doomed", 2000) });
  const { id } = JSON.parse(made.text);
  await world.admin.request("DELETE", `/v1/admin/llms/${doomed.models["doomed-1"]}`);
  const job = await ended(doomed.apiKey, id);
  expect(job).toMatchObject({ status: "failed", error: { code: "model_not_found" } });
  expect((await results(doomed.apiKey, id)).at(-1)).toMatchObject({ response: null, error: { code: "model_not_found" } });
});

test("a short job next to a long one ends before the long one does", async () => {
  const long = await team("long batch");
  const short = await team("short batch");
  const first = await submit(long.apiKey, many("long", 3000));
  await jobOf(long.apiKey, first.id, ({ request_counts }) => request_counts.completed > 100);
  const second = await submit(short.apiKey, many("short", 40));
  const done = await ended(short.apiKey, second.id);
  const then = JSON.parse((await api(long.apiKey, "GET", `/${first.id}`)).text);
  expect(done.status).toBe("completed");
  expect(then.request_counts.completed).toBeLessThan(2900);
  await api(long.apiKey, "POST", `/${first.id}/cancel`);
});
