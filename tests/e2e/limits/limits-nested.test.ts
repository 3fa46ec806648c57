import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { openDatabase } from "../../../server/store/database.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { startFakeJudge, type FakeJudge } from "../../support/vendors/fake-judge.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { haveValkey, startValkey, type TestValkey } from "../../support/processes/valkey.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * Hard budgets when the gateway itself makes calls on behalf of callers: priced judges before and after each call. Together they never
 * exceed the limit, and no call waits for something that only its own completion would release.
 */
const CALLS = 120;
// 10 input tokens at $1 a million and 20 output tokens at $100; the judge: 100 input and 20 output tokens at $1, before and after.
const MAIN = 2_010;
const JUDGED = 120;
const EACH = MAIN + 2 * JUDGED;

const GROUPS = "/v1/admin/resource-groups";
const tenant = { tenant_id: "default" };

for (const home of ["in process", ...(haveValkey ? ["Valkey"] : [])]) {
  describe(home, () => {
    let world: World;
    let judge: FakeJudge;
    let valkey: TestValkey | undefined;
    let upstream: ReturnType<typeof Bun.serve>;
    let root: string;
    let asked = 0;

    beforeAll(async () => {
      if (home === "Valkey") valkey = await startValkey();
      judge = startFakeJudge();
      upstream = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        async fetch(request) {
          const { stream } = (await request.json()) as { stream?: boolean };
          const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
          const chunk = { id: "x", object: "chat.completion.chunk", created: 1, model: "metered" };
          if (stream !== true)
            return Response.json({
              id: "x",
              object: "chat.completion",
              created: 1,
              model: "metered",
              choices: [{ index: 0, message: { role: "assistant", content: `fine ${++asked}` }, finish_reason: "stop" }],
              usage,
            });
          const frames = [
            { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: `fine ${++asked}` }, finish_reason: "stop" }] },
            { ...chunk, choices: [], usage },
          ];
          return new Response(`${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")}data: [DONE]\n\n`, {
            headers: { "content-type": "text/event-stream" },
          });
        },
      });
      world = await startWorld(valkey === undefined ? {} : { VALKEY_URL: valkey.url });
      const { admin } = world;
      await admin.post("/v1/admin/providers", {
        ...tenant,
        provider_key: "p",
        name: "p",
        api_format: "openai",
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        api_key: "sk-upstream-secret-0001",
      });
      await admin.post("/v1/admin/providers", {
        ...tenant,
        provider_key: "j",
        name: "j",
        api_format: "openai",
        base_url: judge.baseUrl,
        api_key: "sk-judge-secret-0000001",
      });
      ({ id: root } = await admin.post(GROUPS, { ...tenant, name: "root" }));
      await admin.post("/v1/admin/llms", {
        ...tenant,
        name: "metered",
        model_name: "metered",
        provider: "p",
        mode: "chat",
        input_cost_per_million_tokens: 1,
        output_cost_per_million_tokens: 100,
        group_ids: [root],
      });
      const judges = await admin.post("/v1/admin/llms", {
        ...tenant,
        name: "judge-1",
        provider: "j",
        mode: "chat",
        input_cost_per_million_tokens: 1,
        output_cost_per_million_tokens: 1,
      });
      await admin.post("/v1/admin/semantic-policies", {
        ...tenant,
        name: "no dragons",
        constraint_text: "Nothing may speak of dragons.",
        judge_model_id: judges.id,
        resource_group_ids: [root],
        surfaces: ["chat_input", "chat_output"],
        action: "block",
        mode: "enforce",
        on_judge_failure: "block",
        timeout_seconds: 60,
      });
    });
    afterAll(async () => {
      await world.end();
      await judge.stop();
      await upstream.stop(true);
      await valkey?.stop();
    });

    /** A group two levels below the root, with a key; `micros` is the hard budget of the group above it. */
    async function team(name: string, limits: object) {
      const upper = await world.admin.post(GROUPS, { ...tenant, name, parent_group_id: root });
      const leaf = await world.admin.post(GROUPS, { ...tenant, name: `${name}-leaf`, parent_group_id: upper.id });
      const { key_value: key } = await world.admin.post(`${GROUPS}/${leaf.id}/api-keys`, { name, access_mode: "shared" });
      const set = await world.admin.request("PATCH", `${GROUPS}/${upper.id}/llm-global-limits`, { llm_global_limits: limits });
      expect(set.status).toBe(200);
      return { upper: upper.id as string, leaf: leaf.id as string, key: key as string };
    }

    async function chat(key: string, words: string, more: object = {}) {
      const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ model: "metered", max_tokens: 20, messages: [{ role: "user", content: words }], ...more }),
      });
      const text = await response.text();
      return { status: response.status, text, id: response.headers.get("x-request-id") as string };
    }

    /**
     * Micro-dollars in a group's rows, for callers' calls and the gateway's own, once there are rows for `calls` calls and `judged` judges
     * that were actually called. A judge that was not called has a row too, so the total number of rows proves nothing.
     */
    async function recorded(groupId: string, calls: number, judged: number): Promise<{ callers: number; own: number }> {
      const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
      try {
        for (const deadline = Date.now() + PATIENCE_MS; ; await Bun.sleep(50)) {
          const found = await sql<{ calls: number; judged: number; callers: number; own: number }>`
            SELECT count(*) FILTER (WHERE proxy_subtype <> 'semantic_policy_judge')::int AS calls,
              count(*) FILTER (WHERE proxy_subtype = 'semantic_policy_judge' AND llm_model_used IS NOT NULL)::int AS judged,
              coalesce(sum(round(llm_estimated_cost_usd * 1000000)) FILTER (WHERE proxy_subtype <> 'semantic_policy_judge'), 0)::int AS callers,
              coalesce(sum(round(llm_estimated_cost_usd * 1000000)) FILTER (WHERE proxy_subtype = 'semantic_policy_judge'), 0)::int AS own
            FROM audit_rows WHERE resource_group_id = ${groupId}`.execute(db);
          const { callers, own, ...rows } = found.rows[0] as { calls: number; judged: number; callers: number; own: number };
          if (rows.calls >= calls && rows.judged >= judged) return { callers, own };
          if (Date.now() > deadline) throw new Error(`rows of ${rows.calls} calls and ${rows.judged} judges, not ${calls} and ${judged}`);
        }
      } finally {
        await close();
      }
    }

    test(`${CALLS} concurrent calls, each judged twice, never exceed a budget worth 40 calls`, async () => {
      const limit = 40 * EACH;
      const { upper, leaf, key } = await team("crowd", { budget: { monthly_limit_usd: limit / 1e6, hard_stop: true } });
      const before = judge.seen.length;
      const replies = await Promise.all(
        Array.from({ length: CALLS }, (_, i) => chat(key, `question ${i}`, i % 3 === 0 ? { stream: true } : {})),
      );
      const counts: Record<number, number> = {};
      for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
      // Some concurrent calls are refused while others hold what they will not use: the rest is spent one call at a time.
      let more = 0;
      for (let last = 200; last === 200; more++) last = (await chat(key, "one more")).status;
      const refused = await chat(key, "once more");
      expect([403, 429]).toContain(refused.status);
      // No more callers' costs from here on, but the last call may have been judged before it was refused.
      const judged = judge.seen.length - before;
      const { callers, own } = await recorded(leaf, CALLS + more + 1, judged);
      console.log(`${home}: ${JSON.stringify(counts)}, ${callers} + ${own} of ${limit} micro-dollars`);
      expect(callers + own).toBeLessThanOrEqual(limit);
      expect(own).toBe(judged * JUDGED);
      expect(callers % MAIN).toBe(0);
      // The rest would not cover the worst case of one more call and its judge.
      const worstOfJudge = Math.max(...judge.seen.map((body) => Buffer.byteLength(body))) + 1_024;
      expect(limit - callers - own).toBeLessThan(worstOfJudge + 2_200);
      expect(Object.keys(counts).every((status) => ["200", "403", "429"].includes(status))).toBe(true);
      const { limits } = await world.admin.get(`${GROUPS}/${upper}/consumption`);
      expect(limits[0].current).toBe((callers + own) / 1e6);
    });

    test("a judge's usage is counted at once at every level, and a judge that the budget does not cover is not called", async () => {
      const { upper, key } = await team("tight", { budget: { daily_limit_usd: 1, hard_stop: true } });
      expect((await chat(key, "tight one")).status).toBe(200);
      // Between the worst case of the call and that of its judge.
      const most = [
        2_000 + Buffer.byteLength(JSON.stringify({ model: "metered", max_tokens: 20, messages: [{ role: "user", content: "tight two" }] })),
        Math.min(...judge.seen.map((body) => Buffer.byteLength(body))) + 1_024,
      ] as const;
      expect(most[0] + 100).toBeLessThan(most[1]);
      const tightened = await world.admin.request("PATCH", `${GROUPS}/${upper}/llm-global-limits`, {
        llm_global_limits: { budget: { daily_limit_usd: Math.round(EACH + (most[0] + most[1]) / 2) / 1e6, hard_stop: true } },
      });
      expect(tightened.status).toBe(200);
      for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline && (await chat(key, "x".repeat(10_000))).status !== 429;);
      const seen = judge.seen.length;
      const second = await chat(key, "tight two");
      // The budget would cover the call alone, but not together with its judge.
      expect([second.status, JSON.parse(second.text).error.code, judge.seen.length]).toEqual([403, "semantic_policy_block", seen]);
      const own = await rowOf(world.admin, { parent_request_id: second.id });
      expect(own).toMatchObject({
        proxy_subtype: "semantic_policy_judge",
        success: false,
        http_status_code: 429,
        error_type: "usage_limit_reached",
        llm_model_used: null,
        response_size_bytes: null,
        response_content_hash: null,
      });
      expect(own.pre_action_state).toMatchObject({
        kind: "usage_limit",
        limit_type: "daily_budget",
        group_id: upper,
        current: String(EACH),
      });
    });

    test("a call passes when the budget covers the call or its judge but not both at once, streamed or not", async () => {
      // Covers the larger of the two, not both together; the judge runs before and after.
      const worstOfJudge = Math.max(...judge.seen.map((body) => Buffer.byteLength(body))) + 1_024;
      const { key } = await team("one-by-one", { budget: { daily_limit_usd: (EACH + worstOfJudge + 200) / 1e6, hard_stop: true } });
      expect((await chat(key, "first of one", { stream: true })).status).toBe(200);
      const another = await team("one-by-one-whole", { budget: { daily_limit_usd: (EACH + worstOfJudge + 200) / 1e6, hard_stop: true } });
      expect((await chat(another.key, "first of one")).status).toBe(200);
    });

    test("a soft budget refuses no judge, and request limits count only the callers' requests", async () => {
      const { leaf, upper, key } = await team("soft", {
        budget: { daily_limit_usd: EACH / 1e6, daily_warning_percent: 50 },
        requests: { daily_limit: 2 },
        concurrency: { max_concurrent: 1 },
        throughput: { max_requests_per_minute: 2 },
      });
      expect([(await chat(key, "soft one")).status, (await chat(key, "soft two")).status, (await chat(key, "soft three")).status]).toEqual([
        200, 200, 429,
      ]);
      await rowsOf(world.admin, { resource_group_id: leaf }, 7);
      const { limits } = await world.admin.get(`${GROUPS}/${upper}/consumption`);
      expect(limits.map(({ limit_type, current }: { limit_type: string; current: number }) => [limit_type, current])).toEqual([
        ["daily_budget", (2 * EACH) / 1e6],
        ["daily_requests", 2],
      ]);
    });
  });
}
