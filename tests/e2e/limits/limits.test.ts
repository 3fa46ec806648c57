import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { GROUPS, PRICED, type LimitedWorld, startLimitedWorld } from "../../support/worlds/limited-world.ts";
import { until } from "../../support/until.ts";

/** Limits as callers and administrators see them, on one process with its own counters. */

let world: LimitedWorld["world"];
let served: LimitedWorld["served"];
let team: LimitedWorld["team"];
let patch: LimitedWorld["patch"];
let limit: LimitedWorld["limit"];
let chat: LimitedWorld["chat"];
let alertsOf: LimitedWorld["alertsOf"];

beforeAll(async () => {
  ({ world, served, team, patch, limit, chat, alertsOf } = await startLimitedWorld());
});
afterAll(() => world.end());

describe("quotas", () => {
  test("a daily request limit refuses the next request with the usage limit error and a retry-after", async () => {
    const a = await team("requests-a");
    await limit(a.id, { requests: { daily_limit: 2, daily_warning_percent: 50 } });
    const first = await chat(a.key);
    expect([first.status, first.headers.get("x-gw-usage-utilization"), first.headers.get("x-gw-usage-warning")]).toEqual([
      200,
      "50",
      "daily requests limit: 1 of 2 used",
    ]);
    expect((await chat(a.key)).status).toBe(200);
    const third = await chat(a.key);
    expect(third.status).toBe(429);
    expect(third.body).toEqual({
      error: 'The daily requests limit of resource group "requests-a" (2 of 2 used) is used up.',
      usage_limit: { group_id: a.id, group_name: "requests-a", limit_type: "daily_requests", current_usage: 2, max_limit: 2 },
    });
    const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
    expect(Math.abs(Number(third.headers.get("retry-after")) - untilMidnight)).toBeLessThan(5);
    expect(third.headers.get("x-gw-usage-utilization")).toBe("100");
    const row = await rowOf(world.admin, { resource_group_id: a.id, http_status_code: 429 });
    expect(row).toMatchObject({
      error_type: "usage_limit_reached",
      success: false,
      pre_action_state: { kind: "usage_limit", limit_type: "daily_requests", current: "2", limit: "2" },
    });
  });

  test("a hard budget is never exceeded, and a call to an unpriced model is refused", async () => {
    const a = await team("hard-a");
    const leaf = await team("hard-leaf", a.id);
    await limit(a.id, { budget: { daily_limit_usd: 0.01, hard_stop: true } });
    // Each call costs 1,000 x 1 + 500 x 2 (with cached tokens at the plain price) = 2,000 micro-dollars.
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await chat(leaf.key)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const refused = await chat(leaf.key);
    expect(refused.body.usage_limit).toEqual({
      group_id: a.id,
      group_name: "hard-a",
      limit_type: "daily_budget",
      current_usage: 0.01,
      max_limit: 0.01,
    });
    expect(refused.headers.get("x-should-retry")).toBe("false");
    await world.admin.post(`${GROUPS}/${a.id}/llm-models`, { model_ids: [served.models["unpriced"]] });
    const unpriced = await chat(leaf.key, { model: "unpriced" });
    expect([unpriced.status, unpriced.body.code]).toEqual([403, "model_unpriced"]);
  });

  test("a hard budget holds the worst case of all prompts in one request, each as long as the context window", async () => {
    const a = await team("many-prompts");
    await limit(a.id, { budget: { daily_limit_usd: 0.002, hard_stop: true } });
    const model = (name: string, modes: string[]) =>
      world.admin.post("/v1/admin/llms", {
        tenant_id: "default",
        name,
        model_name: name,
        provider: "fake",
        modes,
        ...PRICED,
        context_window: 100,
        group_ids: [served.groupId],
      });
    await model("embeds-many", ["embedding"]);
    await model("completes-many", ["completion"]);
    const ask = async (path: string, body: object) =>
      (
        await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-api-key": a.key },
          body: JSON.stringify(body),
        })
      ).status;
    // Characters that are in no tokenizer's vocabulary: one token for each of their bytes.
    const texts = (count: number) => Array.from({ length: count }, () => "ꙮ".repeat(30));
    // At a dollar a million, thirty texts may cost more than 2,700 micro-dollars, five less than 2,000.
    expect([
      await ask("embeddings", { model: "embeds-many", input: texts(30) }),
      await ask("completions", { model: "completes-many", prompt: texts(30), max_tokens: 1 }),
    ]).toEqual([429, 429]);
    // It is sent to the upstream, which has no embeddings.
    expect(await ask("embeddings", { model: "embeds-many", input: texts(5) })).toBe(502);
  });

  test("a soft budget warns and raises alerts but refuses nothing", async () => {
    const a = await team("soft-a");
    await limit(a.id, { budget: { daily_limit_usd: 0.003, daily_warning_percent: 50 } });
    expect((await chat(a.key)).headers.get("x-gw-usage-warning")).toBeNull();
    expect((await chat(a.key)).headers.get("x-gw-usage-warning")).toBe("daily budget limit: $0.002 of $0.003 used");
    expect((await chat(a.key)).status).toBe(200);
    const alerts = await alertsOf(a, 2);
    expect(alerts.map(({ alert_type }) => alert_type).sort()).toEqual(["budget_exceeded", "usage_warning"]);
  });

  test("a limit set when most or all of it is used raises its alert with the next call", async () => {
    const a = await team("late-a");
    for (let i = 0; i < 3; i++) expect((await chat(a.key)).status).toBe(200);
    await rowsOf(world.admin, { resource_group_id: a.id, http_status_code: 200 }, 3);
    await limit(a.id, { budget: { daily_limit_usd: 0.004 }, tokens: { daily_limit: 7_500, daily_warning_percent: 50 } });
    expect((await chat(a.key)).status).toBe(200);
    const alerts = await alertsOf(a, 2);
    expect(alerts.map(({ alert_type, current_value, threshold_value }) => [alert_type, current_value, threshold_value]).sort()).toEqual([
      ["budget_exceeded", 0.008, 0.004],
      ["usage_warning", 6_000, 3_750],
    ]);
  });

  test("errors and alerts of a limit for one model name the model", async () => {
    const a = await team("one-model-a");
    const { status } = await patch(a.id, `llm-models/${served.models["fake-1"]}/limits`, { limits: { requests: { daily_limit: 1 } } });
    expect(status).toBe(200);
    expect((await chat(a.key)).status).toBe(200);
    expect((await chat(a.key)).body.error).toBe(
      'The daily requests limit of model "fake-1" in resource group "one-model-a" (1 of 1 used) is used up.',
    );
    expect((await alertsOf(a, 1)).map(({ message, usage_limit }) => ({ message, usage_limit }))).toEqual([
      {
        message: 'Model "fake-1" in resource group "one-model-a" has used 1 of 1. Calls are refused until the window turns.',
        usage_limit: { limit_type: "daily_requests", max_limit: 1, scope: "model", group_name: "one-model-a", item_name: "fake-1" },
      },
    ]);
  });

  test("a run that reaches its ceiling raises no alert for its group", async () => {
    const a = await team("run-alert-a");
    expect((await patch(a.id, "run-ceilings", { run_ceilings: { max_llm_calls_per_run: 1 } })).status).toBe(200);
    const inRun = { "x-gw-run-id": "one of many" };
    expect([(await chat(a.key, {}, inRun)).status, (await chat(a.key, {}, inRun)).status]).toEqual([200, 429]);
    await limit(a.id, { requests: { daily_limit: 2, daily_warning_percent: 50 } });
    expect((await chat(a.key)).status).toBe(200);
    expect((await alertsOf(a, 2)).map(({ alert_type }) => alert_type).sort()).toEqual(["usage_limit_reached", "usage_warning"]);
  });

  const told = ({ alert_type, title, message }: Record<string, string>) => [alert_type, title, message];

  test("a call refused for asking more than is left raises an alert only when the limit is nearly used up", async () => {
    const a = await team("alarm-a");
    await limit(a.id, { tokens: { daily_limit: 10_000 } });
    expect((await chat(a.key, { max_tokens: 50_000 })).status).toBe(429);
    await limit(a.id, { tokens: { daily_limit: 10_000 }, requests: { daily_limit: 1 } });
    expect((await chat(a.key, { max_tokens: 10 })).status).toBe(200);
    expect((await chat(a.key)).status).toBe(429);
    // Only the last alert exists, so the first refusal raised none.
    expect((await alertsOf(a, 1)).map(told)).toEqual([
      [
        "usage_limit_reached",
        "The daily requests limit is reached",
        '"alarm-a" has used 1 of 1. Calls are refused until the window turns.',
      ],
    ]);
    await limit(a.id, { tokens: { daily_limit: 1_800 } });
    expect((await chat(a.key, { max_tokens: 50_000 })).status).toBe(429);
    expect((await alertsOf(a, 2)).map(told)[0]).toEqual([
      "usage_limit_reached",
      "The daily tokens limit is reached",
      '"alarm-a" has used 1500 of 1800. Calls that could come to more than what is left are refused until the window turns.',
    ]);
  });

  test("a failed upstream call releases what it held in a budget", async () => {
    const a = await team("broken-a");
    await limit(a.id, { budget: { daily_limit_usd: 0.005, hard_stop: true } });
    for (let i = 0; i < 5; i++) expect((await chat(a.key, { model: "broken", max_tokens: 2000 })).status).toBe(502);
    expect((await chat(a.key, { max_tokens: 2000 })).status).toBe(200);
  });
});

describe("rates", () => {
  test("a requests-per-minute limit refuses with the rate limit error and retry-after, and its cooldown locks the scope", async () => {
    const a = await team("rate-a");
    await limit(a.id, { throughput: { max_requests_per_minute: 4, request_burst: 1, cooldown_seconds: 30 } });
    expect((await chat(a.key)).status).toBe(200);
    const second = await chat(a.key);
    expect([second.status, second.body]).toEqual([
      429,
      {
        error: {
          type: "rate_limit_exceeded",
          message: 'The limit on requests per minute of resource group "rate-a" is reached.',
          scope: "group",
          limit_type: "requests_per_minute",
        },
      },
    ]);
    expect(second.headers.get("retry-after")).toBe("30");
    expect(await rowOf(world.admin, { resource_group_id: a.id, http_status_code: 429 })).toMatchObject({
      error_type: "rate_limit_exceeded",
      pre_action_state: { kind: "rate_limit", by: "bucket", limit_type: "requests_per_minute", group_id: a.id },
    });
  });

  test("a concurrency limit warns when it is full and refuses calls beyond it", async () => {
    const a = await team("concurrent-a");
    await limit(a.id, { concurrency: { max_concurrent: 2 } });
    const told = ({ status, headers }: Awaited<ReturnType<typeof chat>>) => [
      status,
      headers.get("x-gw-usage-utilization"),
      headers.get("x-usage-warning"),
    ];
    const seen = world.upstream.seen.length;
    const held = chat(a.key, { model: "hold", stream: true });
    await until(() => world.upstream.seen.length > seen);
    expect(told(await chat(a.key))).toEqual([200, "100", "max concurrent limit: 2 of 2 in flight"]);
    await limit(a.id, { concurrency: { max_concurrent: 1 } });
    const second = await chat(a.key);
    expect([second.status, second.body.error.limit_type]).toEqual([429, "max_concurrent"]);
    world.upstream.release();
    expect(told(await held)).toEqual([200, "50", null]);
    expect((await chat(a.key)).status).toBe(200);
  });
});

describe("a routing group whose member uses tokens and then fails", () => {
  test("is retried only while a hard limit covers what was used plus one more attempt", async () => {
    const a = await team("again-a");
    const tenant = { tenant_id: "default" };
    await world.admin.post("/v1/admin/llm-router/routing-groups", {
      ...tenant,
      id: "again",
      name: "again",
      mode: "chat",
      routing_strategy: "ordered",
      num_retries: 20,
      allowed_fails: 100,
    });
    await world.admin.post("/v1/admin/llms", {
      ...tenant,
      name: "spends",
      model_name: "spent",
      provider: "fake",
      mode: "chat",
      ...PRICED,
      group_ids: [served.groupId],
      routing_group_id: "again",
      routing_weight: 1,
    });
    await limit(a.id, { tokens: { daily_limit: 120 } });
    const asked = () => world.upstream.seen.filter(({ body }) => body.includes('"spent"')).length;
    const refused = await chat(a.key, { model: "again", stream: true, max_tokens: 1 });
    // By its bytes and one output token, the first attempt may use about 90 tokens; it uses 16.
    const row = await rowOf(world.admin, { resource_group_id: a.id });
    expect([refused.status, row.error_type, row.llm_total_tokens, asked()]).toEqual([429, "usage_limit_reached", 32, 2]);
    await limit(a.id, { tokens: { daily_limit: 1_000 } });
    expect([(await chat(a.key, { model: "again", stream: true, max_tokens: 1 })).status, asked()]).toEqual([502, 23]);
    // Everything that was held has been released.
    expect((await chat(a.key, { max_tokens: 450 })).status).toBe(200);
  });
});

describe("one model", () => {
  test("a limit for one model applies beside its group's, also through a routing group, which then uses another member", async () => {
    const a = await team("model-a");
    const tenant = { tenant_id: "default" };
    await world.admin.post("/v1/admin/llm-router/routing-groups", {
      ...tenant,
      id: "either",
      name: "either",
      mode: "chat",
      routing_strategy: "ordered",
    });
    const member = (name: string, weight: number) =>
      world.admin.post("/v1/admin/llms", {
        ...tenant,
        name,
        model_name: "fake-1",
        provider: "fake",
        mode: "chat",
        ...PRICED,
        group_ids: [served.groupId],
        routing_group_id: "either",
        routing_weight: weight,
      });
    const first = await member("first", 2);
    await member("second", 1);
    expect((await patch(a.id, `llm-models/${first.id}/limits`, { limits: { requests: { daily_limit: 2 } } })).status).toBe(200);
    expect((await chat(a.key, { model: "either" })).status).toBe(200);
    expect((await chat(a.key, { model: "first" })).status).toBe(200);
    const refused = await chat(a.key, { model: "first" });
    expect([refused.status, refused.body.usage_limit]).toEqual([
      429,
      { group_id: a.id, group_name: "model-a", limit_type: "daily_requests", current_usage: 2, max_limit: 2 },
    ]);
    expect((await chat(a.key, { model: "either" })).status).toBe(200);
    expect(await rowOf(world.admin, { resource_group_id: a.id, llm_model_used: "second" })).toMatchObject({ success: true });
    expect((await patch(a.id, "llm-global-limits", { llm_global_limits: { requests: { daily_limit: 1 } } })).status).toBe(200);
    const loose = await patch(a.id, `llm-models/${first.id}/limits`, { limits: { requests: { daily_limit: 2 } } });
    expect([loose.status, loose.body.code]).toEqual([400, "limit_exceeds_inherited"]);
  });
});

describe("run ceilings", () => {
  test("stop the run that reached them and no other run", async () => {
    const a = await team("run-a");
    expect((await patch(a.id, "run-ceilings", { run_ceilings: { max_llm_calls_per_run: 1 } })).status).toBe(200);
    expect((await chat(a.key, {}, { "x-gw-run-id": "one" })).status).toBe(200);
    const second = await chat(a.key, {}, { "x-gw-run-id": "one" });
    expect([second.status, second.body.usage_limit.limit_type]).toEqual([429, "max_llm_calls_per_run"]);
    expect([second.headers.get("x-gw-usage-utilization"), second.headers.get("x-should-retry")]).toEqual(["100", "false"]);
    expect((await chat(a.key, {}, { "x-gw-run-id": "two" })).status).toBe(200);
    expect((await chat(a.key)).status).toBe(200);
    // A run's ceiling is recorded in its rows but raises no alert: the group has nothing to wait for.
    await limit(a.id, { requests: { daily_limit: 3 } });
    expect((await chat(a.key)).status).toBe(429);
    expect((await alertsOf(a, 1)).map(({ title }) => title)).toEqual(["The daily requests limit is reached"]);
  });
});

describe("a limit on the duration of a run", () => {
  test("ends the calls in flight: a stream with an error event, a whole answer with 429", async () => {
    const a = await team("run-long");
    expect((await patch(a.id, "run-ceilings", { run_ceilings: { max_duration_seconds_per_run: 1 } })).status).toBe(200);
    // A run that has lasted too long is refused; each of these calls has its own run.
    const [streamed, waited, short] = await Promise.all([
      chat(a.key, { model: "hold", stream: true }, { "x-gw-run-id": "streamed" }),
      chat(a.key, { model: "hold" }, { "x-gw-run-id": "waited" }),
      chat(a.key, {}, { "x-gw-run-id": "short" }),
    ]);
    expect(short.status).toBe(200);
    expect(streamed.status).toBe(200);
    const said = "The run's ceiling max_duration_seconds_per_run (1 of 1) is reached.";
    expect(streamed.body).toContain(said);
    expect([waited.status, waited.body.usage_limit.limit_type, waited.body.error]).toEqual([429, "max_duration_seconds_per_run", said]);
    for (const { headers } of [streamed, waited])
      expect(await rowOf(world.admin, { id: headers.get("x-request-id") as string })).toMatchObject({
        success: false,
        error_type: "run_ceiling_reached",
        error_message: said,
      });
  });
});

describe("limit documents", () => {
  test("a child group may tighten but not loosen limits, and may not claim what its siblings are promised", async () => {
    const parent = await team("tree-parent");
    const [one, two] = [await team("tree-one", parent.id), await team("tree-two", parent.id)];
    const set = await limit(parent.id, {
      requests: { daily_limit: 100 },
      throughput: { cooldown_seconds: 10 },
      budget: { hard_stop: true, daily_limit_usd: 10 },
    });
    expect(set.capacity).toMatchObject({ parent_name: null, parent_is_immediate: false, siblings: [] });
    const loose = await patch(one.id, "llm-global-limits", {
      llm_global_limits: { requests: { daily_limit: 101 }, throughput: { cooldown_seconds: 5 }, budget: { hard_stop: false } },
    });
    expect([loose.status, loose.body.code, loose.body.fields.map(({ field }: { field: string }) => field).sort()]).toEqual([
      400,
      "limit_exceeds_inherited",
      ["budget.hard_stop", "requests.daily_limit", "throughput.cooldown_seconds"],
    ]);
    await limit(one.id, { requests: { daily_limit: 60 } });
    const over = await patch(two.id, "llm-global-limits", { llm_global_limits: { requests: { daily_limit: 41 } } });
    expect([over.status, over.body.code, over.body.fields]).toEqual([
      400,
      "limit_exceeds_available",
      [{ field: "requests.daily_limit", message: 'must be at most 40, which is what "tree-parent" has not promised to others' }],
    ]);
    const fits = await limit(two.id, { requests: { daily_limit: 40 } });
    expect(fits).toMatchObject({
      llm_global_limits: { requests: { daily_limit: 40 } },
      inherited_llm_limits: { requests: { daily_limit: 100 } },
      effective_llm_limits: { requests: { daily_limit: 40 }, budget: { hard_stop: true, daily_limit_usd: 10 } },
      capacity: {
        parent_name: "tree-parent",
        parent_is_immediate: true,
        siblings: [{ group_name: "tree-one", limits: { requests: { daily_limit: 60 } } }],
        available: { requests: { daily_limit: 40 } },
      },
    });
    expect(await world.admin.get(`${GROUPS}/${two.id}/llm-global-limits`)).toEqual(fits);
  });

  test("limits for an unknown model or tool server are refused with 404", async () => {
    const a = await team("missing-a");
    const missing = "00000000-0000-4000-8000-000000000000";
    const asked = [
      await patch(a.id, `llm-models/${missing}/limits`, { limits: {} }),
      await patch(a.id, `llm-models/${missing}/governance`, { governance: {} }),
      await patch(a.id, "mcp-servers/mcp-missing/limits", { limits: {} }),
      await world.admin.request("GET", `${GROUPS}/${a.id}/mcp-servers/mcp-missing/limits`),
    ];
    expect(asked.map(({ status, body }) => [status, body.code])).toEqual(asked.map(() => [404, "not_found"]));
  });

  test("a move under a parent with tighter limits is refused", async () => {
    const [tight, loose] = [await team("move-tight"), await team("move-loose")];
    await limit(tight.id, { tokens: { daily_limit: 10 } });
    await limit(loose.id, { tokens: { daily_limit: 20 } });
    const moved = await world.admin.request("PATCH", `${GROUPS}/${loose.id}`, { parent_group_id: tight.id });
    expect([moved.status, moved.body.code]).toEqual([400, "limit_exceeds_inherited"]);
  });

  test("usage of deleted groups still counts for their parents", async () => {
    const above = await team("outlives");
    const middle = await team("goes-second", above.id);
    const below = await team("goes-first", middle.id);
    for (const one of [middle, below]) {
      expect((await chat(one.key)).status).toBe(200);
      await rowOf(world.admin, { resource_group_id: one.id });
    }
    for (const one of [below, middle]) {
      const { api_keys: keys } = await world.admin.get(`${GROUPS}/${one.id}/api-keys`);
      for (const { id } of keys) expect((await world.admin.request("DELETE", `/v1/admin/api-keys/${id}`)).status).toBeLessThan(300);
      expect((await world.admin.request("DELETE", `${GROUPS}/${one.id}`)).status).toBeLessThan(300);
    }
    await limit(above.id, { requests: { daily_limit: 2 } });
    const refused = await chat(above.key);
    expect([refused.status, refused.body.usage_limit]).toEqual([
      429,
      { group_id: above.id, group_name: "outlives", limit_type: "daily_requests", current_usage: 2, max_limit: 2 },
    ]);
    const { limits } = await world.admin.get(`${GROUPS}/${above.id}/consumption`);
    expect(limits[0].drawn_by).toEqual([{ group_id: above.id, group_name: "outlives", current: 2 }]);
  });

  test("a group's usage moves with it to its new parent, for calls and in the consumption", async () => {
    const [from, to] = [await team("moved-from"), await team("moved-to")];
    const [moved, stays] = [await team("moves", from.id), await team("stays", from.id)];
    const model = `llm-models/${served.models["fake-1"]}/limits`;
    await limit(from.id, { requests: { daily_limit: 4, monthly_limit: 4 } });
    await limit(to.id, { requests: { daily_limit: 4 } });
    expect((await patch(from.id, model, { limits: { requests: { daily_limit: 4 } } })).status).toBe(200);
    for (const one of [moved, moved, moved, stays]) expect((await chat(one.key)).status).toBe(200);
    expect((await chat(stays.key)).status).toBe(429);
    await rowsOf(world.admin, { resource_group_id: moved.id }, 3);
    await rowOf(world.admin, { resource_group_id: stays.id, success: true });

    expect((await world.admin.request("PATCH", `${GROUPS}/${moved.id}`, { parent_group_id: to.id })).status).toBe(200);
    const { limits } = await world.admin.get(`${GROUPS}/${stays.id}/consumption`);
    expect(limits.map(({ current }: { current: number }) => current)).toEqual([1, 1, 1]);
    const answers = [await chat(stays.key), await chat(stays.key), await chat(stays.key), await chat(stays.key)];
    expect(answers.map(({ status, headers }) => [status, headers.get("x-gw-usage-utilization")])).toEqual([
      [200, "50"],
      [200, "75"],
      [200, "100"],
      [429, "100"],
    ]);
    expect((await chat(moved.key)).status).toBe(200);
  });

  test("consumption lists as the group's own a limit of which it sets only hard_stop or the warning threshold", async () => {
    const parent = await team("manner-parent");
    const child = await team("manner-child", parent.id);
    await limit(parent.id, { budget: { daily_limit_usd: 5 }, tokens: { daily_limit: 100 }, requests: { daily_limit: 100 } });
    await limit(child.id, { budget: { hard_stop: true }, tokens: { daily_warning_percent: 50 } });
    const { limits } = await world.admin.get(`${GROUPS}/${child.id}/consumption`);
    expect(limits.map((one: any) => [one.group_name, one.limit_type, one.limit, one.blocks])).toEqual([
      ["manner-child", "daily_budget", 5, true],
      ["manner-child", "daily_tokens", 100, true],
      ["manner-parent", "daily_budget", 5, false],
      ["manner-parent", "daily_tokens", 100, true],
      ["manner-parent", "daily_requests", 100, true],
    ]);
  });

  test("consumption names the groups that use a quota", async () => {
    const parent = await team("draw-parent");
    const child = await team("draw-child", parent.id);
    await limit(parent.id, { requests: { daily_limit: 10 }, budget: { monthly_limit_usd: 1 } });
    await chat(child.key);
    await rowOf(world.admin, { resource_group_id: child.id });
    const { limits } = await world.admin.get(`${GROUPS}/${child.id}/consumption`);
    expect(limits).toEqual([
      expect.objectContaining({
        group_name: "draw-parent",
        inherited: true,
        limit_type: "monthly_budget",
        current: 0.002,
        limit: 1,
        blocks: false,
        drawn_by: [{ group_id: child.id, group_name: "draw-child", current: 0.002 }],
      }),
      expect.objectContaining({ limit_type: "daily_requests", current: 1, limit: 10, utilization_percent: 10, blocks: true }),
    ]);
  });
});
