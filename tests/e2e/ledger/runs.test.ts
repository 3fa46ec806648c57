import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { rowOf, rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;
let other: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  other = await serveModels(world.admin, world.upstream.baseUrl, ["fake-2"], { group: "others", providerKey: "fake2" });
});
afterAll(async () => world.end());

async function chat(headers: Record<string, string>, model = "fake-1", key = served.apiKey): Promise<Response> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key, ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  await response.arrayBuffer();
  return response;
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  key = served.apiKey,
): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(world.gateway.runtimeUrl + path, {
    method,
    headers: { "x-api-key": key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

test("a call refused for another group's name belongs to the run it named", async () => {
  const refused = await chat({ "x-gw-run-id": "astray", "x-resource-group": "others" });
  expect([refused.status, refused.headers.get("x-gw-run-id")]).toEqual([403, "astray"]);
  await rowOf(world.admin, { id: refused.headers.get("x-request-id") });
  expect((await send("GET", "/v1/runs/astray")).body).toMatchObject({ run_id: "astray", calls: 1, errors: 1 });
  const alone = await chat({ "x-resource-group": "others" });
  expect([alone.status, alone.headers.get("x-gw-run-id")]).toEqual([403, alone.headers.get("x-request-id")]);
});

test("a run totals its calls, with turns named by the caller and turns inferred between model calls", async () => {
  await chat({ "x-gw-run-id": "task 7", "x-gw-turn-id": "t1", "x-gw-turn-seq": "1", "x-gw-step-id": "plan", "x-gw-step-name": "Plan" });
  await chat({ "x-gw-run-id": "task 7" });
  await chat({ "x-gw-run-id": "task 7" });
  const { status, body } = await send("GET", `/v1/runs/${encodeURIComponent("task 7")}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    run_id: "task 7",
    state: "open",
    state_source: null,
    outcome: null,
    ended_at: null,
    calls: 3,
    llm_calls: 3,
    tool_calls: 0,
    errors: 0,
    late_calls: 0,
  });
  expect(body.turns).toEqual([
    { turn_id: "t1", turn_seq: 1, inferred: false, calls: 1 },
    { turn_id: null, turn_seq: 2, inferred: true, calls: 1 },
    { turn_id: null, turn_seq: 3, inferred: true, calls: 1 },
  ]);
  expect(body.steps).toEqual([{ step_id: "plan", step_name: "Plan", calls: 1 }]);
  expect(body.total_tokens).toBe(body.prompt_tokens + body.completion_tokens);
  expect(body.total_tokens).toBeGreaterThan(0);
  expect((await send("GET", `/v1/runs/${body.root_task_id}`)).body.calls).toBe(3);
});

test("a run shows its ceilings; a run ended by a ceiling has the state exhausted", async () => {
  const capped = await serveModels(world.admin, world.upstream.baseUrl, ["fake-3"], { group: "capped", providerKey: "fake3" });
  await world.admin.request("PATCH", `/v1/admin/resource-groups/${capped.groupId}/run-ceilings`, {
    run_ceilings: { max_llm_calls_per_run: 2, max_tokens_per_run: 1_000_000 },
  });
  for (const expected of [200, 200, 429])
    expect((await chat({ "x-gw-run-id": "short of breath" }, "fake-3", capped.apiKey)).status).toBe(expected);
  // The refused call belongs to the run but consumed none of the limit.
  const run = (await send("GET", "/v1/runs/short%20of%20breath", undefined, capped.apiKey)).body;
  expect([run.llm_calls, run.errors]).toEqual([3, 1]);
  expect(run.ceilings).toEqual({
    max_llm_calls_per_run: { max_limit: 2, current_usage: 2 },
    max_tokens_per_run: { max_limit: 1_000_000, current_usage: run.total_tokens },
  });
  expect((await send("POST", "/v1/runs/short%20of%20breath/end", undefined, capped.apiKey)).body.state).toBe("exhausted");
});

test("a run of another credential is not found, even under the same name", async () => {
  await chat({ "x-gw-run-id": "shared" });
  const mine = (await send("GET", "/v1/runs/shared")).body;
  expect((await send("GET", "/v1/runs/shared", undefined, other.apiKey)).status).toBe(404);
  expect((await send("GET", `/v1/runs/${mine.root_task_id}`, undefined, other.apiKey)).status).toBe(404);
  expect((await send("POST", `/v1/runs/${mine.root_task_id}/end`, {}, other.apiKey)).status).toBe(404);
});

test("a run ended by header keeps its state, and a later call is marked late and changes no total", async () => {
  await chat({ "x-gw-run-id": "ends" });
  await chat({ "x-gw-run-id": "ends", "x-gw-run-end": "completed", "x-gw-run-outcome": "resolved" });
  const ended = (await send("GET", "/v1/runs/ends")).body;
  expect(ended).toMatchObject({ state: "completed", state_source: "client", outcome: "resolved", calls: 2 });
  const late = await chat({ "x-gw-run-id": "ends", "x-gw-run-end": "errored" });
  const after = (await send("GET", "/v1/runs/ends")).body;
  expect(after).toMatchObject({ state: "completed", calls: 2, late_calls: 1, total_tokens: ended.total_tokens, ended_at: ended.ended_at });
  expect(after.actions.filter((action: any) => action.late)).toHaveLength(1);
  expect((await rowOf(world.admin, { id: late.headers.get("x-request-id") ?? "" })).tags).toEqual(["late"]);
  const again = await send("POST", "/v1/runs/ends/end", { state: "cancelled" });
  expect([again.status, again.body.state]).toEqual([200, "completed"]);
});

test("the end endpoint ends a run with the given or the derived state and refuses an invalid state by field", async () => {
  await chat({ "x-gw-run-id": "by-hand" });
  expect((await send("POST", "/v1/runs/by-hand/end", { state: "exhausted", outcome: "escalated" })).body).toMatchObject({
    state: "exhausted",
    state_source: "client",
    outcome: "escalated",
  });
  await chat({ "x-gw-run-id": "derived" });
  await chat({ "x-gw-run-id": "derived" }, "fake-2");
  const derived = await send("POST", "/v1/runs/derived/end");
  expect([derived.status, derived.body.state, derived.body.state_source]).toEqual([200, "blocked_policy", "derived"]);
  const wrong = await send("POST", "/v1/runs/derived/end", { state: "won", more: 1 });
  expect([wrong.status, wrong.body.code]).toEqual([400, "invalid_body"]);
  expect(wrong.body.error).toContain("`state`");
  expect((await send("POST", "/v1/runs/never/end", {})).status).toBe(404);
});

const span = (fields: Record<string, unknown>) => ({
  traceId: "5B8EFFF798038103D269B633813FC60C",
  spanId: "eee19b7ec3c1b174",
  name: "chat gpt-x",
  kind: 3,
  startTimeUnixNano: "1763712000000000000",
  endTimeUnixNano: "1763712001500000000",
  attributes: [],
  ...fields,
});
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const spans = (...list: object[]) => ({
  resourceSpans: [{ resource: { attributes: [text("service.name", "agent-7")] }, scopeSpans: [{ scope: { name: "t" }, spans: list }] }],
});

async function ingest(body: unknown, headers: Record<string, string> = {}): Promise<{ status: number; body: any }> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/ingest/otel/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, ...headers },
    body: (body instanceof Uint8Array ? body : JSON.stringify(body)) as BodyInit,
  });
  return { status: response.status, body: await response.json() };
}

test("each span becomes one row, in old and new attribute names, with tokens on inference spans only", async () => {
  const trace = "5b8efff798038103d269b633813fc60c";
  const batch = spans(
    span({
      attributes: [
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", "openai"),
        text("gen_ai.request.model", "gpt-x"),
        { key: "gen_ai.usage.input_tokens", value: { intValue: "120" } },
        { key: "gen_ai.usage.output_tokens", value: { intValue: 30 } },
      ],
      unknown: true,
    }),
    span({
      spanId: "00000000000000a2",
      attributes: [
        text("gen_ai.system", "xai"),
        text("gen_ai.request.model", "grok"),
        { key: "gen_ai.usage.prompt_tokens", value: { intValue: 5 } },
        { key: "gen_ai.usage.completion_tokens", value: { intValue: 6 } },
      ],
    }),
    span({
      spanId: "00000000000000a3",
      kind: 1,
      attributes: [text("gen_ai.operation.name", "invoke_agent"), { key: "gen_ai.usage.input_tokens", value: { intValue: 125 } }],
    }),
    span({
      spanId: "00000000000000a4",
      kind: 1,
      attributes: [text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "search")],
      status: { code: 2, message: "no" },
    }),
    span({ spanId: "0000000000000000" }),
  );
  const first = await ingest(gzipSync(JSON.stringify(batch)), { "content-encoding": "gzip" });
  expect(first).toEqual({
    status: 200,
    body: { partialSuccess: { rejectedSpans: "1", errorMessage: "a traceId or spanId is not valid" } },
  });
  expect((await ingest(batch)).status).toBe(200);
  const rows = (await rowsOf(world.admin, { trace_id: trace, source: "otel" }, 4)).toReversed();
  expect(rows.map((row) => [row.proxy_type, row.proxy_subtype, row.llm_provider, row.llm_total_tokens, row.success])).toEqual([
    ["llm", "chat", "openai", 150, true],
    ["llm", "chat", "x_ai", 11, true],
    ["a2a", "invoke_agent", null, null, true],
    ["mcp", "execute_tool", null, null, false],
  ]);
  expect(rows[0]).toMatchObject({
    source: "otel",
    timestamp: "2025-11-21T08:00:00.000000Z",
    duration_ms: 1500,
    trace_continuity: "external",
    llm_estimated_cost_usd: null,
  });
  const run = (await send("GET", `/v1/runs/${trace}`)).body;
  expect(run).toMatchObject({ calls: 4, external_calls: 4, total_tokens: 161, tool_calls: 2 });
});

test("a span of a call through the gateway joins that call's row and is not counted twice", async () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  await chat({ "x-gw-run-id": "traced", traceparent: `00-${trace}-b7ad6b7169203331-01` });
  const before = (await send("GET", "/v1/runs/traced")).body;
  const told = await ingest(
    spans(
      span({
        traceId: trace,
        spanId: "b7ad6b7169203331",
        attributes: [
          text("gen_ai.operation.name", "chat"),
          text("gen_ai.request.model", "fake-1"),
          { key: "gen_ai.usage.input_tokens", value: { intValue: 9 } },
        ],
      }),
    ),
  );
  expect(told).toEqual({ status: 200, body: {} });
  const row = await rowOf(world.admin, { trace_id: trace, source: "otel" });
  expect([row.root_task_id, row.llm_total_tokens, typeof row.custom_metadata.joined_row_id]).toEqual([before.root_task_id, null, "string"]);
  const after = (await send("GET", "/v1/runs/traced")).body;
  expect([after.calls, after.total_tokens]).toEqual([before.calls, before.total_tokens]);
});

test("a span of another credential's call joins that call's row and stays out of its run", async () => {
  const trace = "1af7651916cd43dd8448eb211c80319c";
  await chat({ "x-gw-run-id": "of one key", traceparent: `00-${trace}-b7ad6b7169203331-01` });
  const before = (await send("GET", "/v1/runs/of%20one%20key")).body;
  const failed = span({
    traceId: trace,
    spanId: "b7ad6b7169203331",
    startTimeUnixNano: "1",
    status: { code: 2 },
    attributes: [text("gen_ai.operation.name", "chat")],
  });
  expect(await ingest(spans(failed), { "x-api-key": other.apiKey })).toEqual({ status: 200, body: {} });
  const row = await rowOf(world.admin, { trace_id: trace, source: "otel" });
  expect(row.custom_metadata.joined_row_id).toBe(before.actions[0].id);
  expect((await send("GET", "/v1/runs/of%20one%20key")).body).toEqual(before);
  expect((await send("GET", `/v1/runs/${before.root_task_id}`, undefined, other.apiKey)).status).toBe(404);
});

test("spans that claim more tokens than totals can hold leave the rows of calls complete", async () => {
  // 1,024 of the largest value plus this one add up to the largest total.
  const tokens = (index: number) => ({
    key: "gen_ai.usage.input_tokens",
    value: { intValue: String(index === 1_024 ? 1_023 : Number.MAX_SAFE_INTEGER) },
  });
  const started = `${Date.now()}000000`;
  const claimed = Array.from({ length: 1_025 }, (_, index) =>
    span({
      traceId: "c".repeat(32),
      spanId: (index + 1).toString(16).padStart(16, "0"),
      startTimeUnixNano: started,
      endTimeUnixNano: started,
      attributes: [text("gen_ai.operation.name", "chat"), tokens(index)],
    }),
  );
  expect((await ingest(spans(...claimed), { "x-api-key": other.apiKey })).status).toBe(200);
  const id = (await chat({}, "fake-2", other.apiKey)).headers.get("x-gw-run-id");
  expect(await rowOf(world.admin, { id })).toMatchObject({
    llm_model_used: "fake-2",
    llm_model_requested: "fake-2",
    custom_metadata: null,
  });
  expect((await send("GET", `/v1/runs/${"c".repeat(32)}`, undefined, other.apiKey)).body.calls).toBe(1_025);
});

test("a run name with a NUL character is not found", async () => {
  expect((await send("GET", "/v1/runs/a%00b")).status).toBe(404);
  expect((await send("POST", "/v1/runs/a%00b/end", {})).status).toBe(404);
});

test("an AI System's runs are listed, with statistics and the share of observed calls", async () => {
  const path = `/v1/admin/ai-systems/${served.groupId}/runs`;
  const ended = await world.admin.get(`${path}?state=completed`);
  expect(ended.runs.map((run: any) => run.run_id)).toEqual(["ends"]);
  const all = await world.admin.get(`${path}?page_size=200`);
  const sum = (name: string) => all.runs.reduce((total: number, run: any) => total + run[name], 0);
  const stats = await world.admin.get(`${path}/stats?from=2025-11-01T00:00:00Z`);
  expect(stats).toMatchObject({
    runs: all.total,
    tokens: { total: sum("total_tokens") },
    errors: { calls: sum("calls"), errors: sum("errors") },
    tool_errors: { calls: 2, errors: 1, rate_pct: 50 },
    late_calls: 1,
  });
  expect(stats.outcome_mix).toMatchObject({ completed: 1, exhausted: 1, blocked_policy: 1 });
  expect(stats.client_outcomes).toMatchObject({ resolved: 1, escalated: 1 });
  const { observed_pct: observed, external_pct: external } = stats.coverage;
  expect(observed + external).toBeCloseTo(100, 5);
  expect(external).toBeCloseTo(400 / sum("calls"), 1);
  const today = await world.admin.get(`${path}/timeseries`);
  expect([today.bucket, today.buckets.length]).toEqual(["hour", 25]);
  const until = async (to: string) => {
    const { bucket, from, buckets } = await world.admin.get(`${path}/timeseries?from=2026-01-01T10:30:00Z&to=${to}`);
    return [bucket, from, buckets.length];
  };
  expect(await until("2026-01-03T10:30:00Z")).toEqual(["hour", "2026-01-01T10:00:00.000Z", 49]);
  expect(await until("2026-01-03T10:30:01Z")).toEqual(["day", "2026-01-01T10:00:00.000Z", 3]);
  const year = await world.admin.get(`${path}/timeseries?from=2025-11-01T00:00:00Z`);
  expect(year.bucket).toBe("day");
  expect(year.buckets.reduce((total: number, bucket: any) => total + bucket.runs, 0)).toBe(all.total);
  expect((await world.admin.request("GET", `/v1/admin/ai-systems/${crypto.randomUUID()}/runs`)).status).toBe(404);
  for (const time of ["0000-01-01T00:00:00Z", "2026-01-01T00:00:00+18:00"])
    expect((await world.admin.request("GET", `${path}?from=${encodeURIComponent(time)}`)).status).toBe(400);
});

test("trace ingest refuses requests in OTLP's error format", async () => {
  expect((await ingest({})).body).toEqual({});
  expect((await ingest("x", { "content-type": "application/x-protobuf" })).status).toBe(415);
  expect((await ingest(new TextEncoder().encode("{"))).body).toMatchObject({ message: expect.any(String) });
  expect((await ingest(new TextEncoder().encode("{}"), { "content-encoding": "gzip" })).status).toBe(400);
  expect((await ingest({}, { "x-api-key": "sk_gw_api_no" })).status).toBe(401);
});

test("a body that decompresses to more than the limit is refused with 413", async () => {
  expect((await ingest(gzipSync(Buffer.alloc(40 * 1024 * 1024, 32)), { "content-encoding": "gzip" })).status).toBe(413);
});
