import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { countTokens as tokensOf } from "gpt-tokenizer/encoding/o200k_base";
import { serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Token limits refuse only what they could not cover: if the estimate by bytes does not fit, tokens are counted. */

const GROUPS = "/v1/admin/resource-groups";
/** A character that is in no tokenizer's vocabulary: one token for each of its bytes. */
const DENSE = "ꙮ";
const PROSE =
  "The customer asks where the second of two desk lamps is, which was not in the parcel that came on Tuesday; the last scan " +
  "of it is from this morning, at the depot in her own city. ";
const ANSWER = 40;

/** The tokenizer's special tokens are counted as ordinary text. */
const countTokens = (text: string) => tokensOf(text, { disallowedSpecial: new Set() });

let world: World;
let groupId: string;
let models: Readonly<Record<string, string>>;

/** Counts the tokens of a text as OpenAI models do, plus a few for the message around it. */
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { messages } = (await request.json()) as { messages: { content: string }[] };
    const prompt_tokens = messages.reduce((sum, { content }) => sum + countTokens(content) + 4, 3);
    return Response.json({
      id: "x",
      object: "chat.completion",
      created: 1763712000,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
      usage: { prompt_tokens, completion_tokens: ANSWER, total_tokens: prompt_tokens + ANSWER },
    });
  },
});

beforeAll(async () => {
  world = await startWorld();
  ({ groupId, models } = await serveModels(world.admin, `http://127.0.0.1:${provider.port}/v1`, ["counted"]));
});
afterAll(async () => {
  await provider.stop(true);
  await world.end();
});

async function team(name: string): Promise<{ readonly id: string; readonly key: string }> {
  const { id } = await world.admin.post(GROUPS, { tenant_id: "default", name, parent_group_id: groupId });
  const key = await world.admin.post(`${GROUPS}/${id}/api-keys`, { name });
  return { id, key: key.key_value };
}

const set = async (path: string, body: object) => expect((await world.admin.request("PATCH", `${GROUPS}/${path}`, body)).status).toBe(200);

async function ask(key: string, content: string, headers: Record<string, string> = {}, model = "counted") {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key, ...headers },
    body: JSON.stringify({ model, max_tokens: ANSWER, messages: [{ role: "user", content }] }),
  });
  const body = (await response.json()) as any;
  return { status: response.status, body, headers: response.headers, tokens: (body.usage?.total_tokens as number | undefined) ?? 0 };
}

describe("a hard limit on tokens", () => {
  test("as a run ceiling refuses a call only when the remaining tokens do not cover it", async () => {
    const { id, key } = await team("a long run");
    const ceiling = 20_000;
    await set(`${id}/run-ceilings`, { run_ceilings: { max_tokens_per_run: ceiling } });
    const run = { "x-gw-run-id": crypto.randomUUID() };
    let used = 0;
    for (;;) {
      const { status, body, tokens, headers } = await ask(key, PROSE.repeat(20), run);
      if (status !== 200) {
        expect([status, body.usage_limit?.limit_type, headers.get("retry-after")]).toEqual([429, "max_tokens_per_run", null]);
        break;
      }
      used += tokens;
    }
    const next = countTokens(PROSE.repeat(20)) + 7 + ANSWER;
    expect(used).toBeLessThanOrEqual(ceiling);
    // What was left did not cover the next call, within a twentieth of its size.
    expect(ceiling - used).toBeLessThan(next * 1.05);
  });

  test("lets a first call through if it fits, and refuses it otherwise", async () => {
    const content = PROSE.repeat(30);
    const needs = countTokens(content) + 7 + ANSWER;
    for (const [name, daily_limit, status] of [
      ["fits", Math.ceil(needs * 1.05), 200],
      ["does not fit", needs - 1, 429],
    ] as const) {
      const { id, key } = await team(name);
      await set(`${id}/llm-global-limits`, { llm_global_limits: { tokens: { daily_limit } } });
      expect([name, (await ask(key, content)).status]).toEqual([name, status]);
    }
  });

  test("holds for a call to a routing group the highest estimate among its members", async () => {
    const tenant_id = "default";
    const record = { tenant_id, provider_key: "elsewhere", name: "elsewhere", api_format: "anthropic", api_key: "sk-ant-1" };
    await world.admin.post("/v1/admin/providers", { ...record, base_url: `http://127.0.0.1:${provider.port}` });
    const content = PROSE.repeat(30);
    const needs = countTokens(content) + 7 + ANSWER;
    for (const [name, second, status] of [
      ["all-alike", {}, 200],
      ["long-prompt", { system_prompt: PROSE.repeat(10) }, 429],
      ["other-tokenizer", { provider: "elsewhere" }, 429],
    ] as const) {
      await world.admin.post("/v1/admin/llm-router/routing-groups", { tenant_id, id: name, routing_strategy: "ordered" });
      for (const [at, more] of [{}, second].entries())
        await world.admin.post("/v1/admin/llms", {
          tenant_id,
          name: `${name}-${at}`,
          provider: "fake",
          mode: "chat",
          routing_group_id: name,
          routing_weight: 2 - at,
          group_ids: [groupId],
          ...more,
        });
      const { id, key } = await team(`routed ${name}`);
      await set(`${id}/llm-global-limits`, { llm_global_limits: { tokens: { daily_limit: Math.ceil(needs * 1.05) } } });
      expect([name, (await ask(key, content, {}, name)).status]).toEqual([name, status]);
    }
  });

  test("is not exceeded when a caller switches from prose to text that takes more tokens per byte", async () => {
    const { id, key } = await team("dense");
    const limit = 3_000;
    await set(`${id}/llm-global-limits`, { llm_global_limits: { tokens: { daily_limit: limit } } });
    let used = 0;
    for (const content of [PROSE, PROSE.repeat(4), PROSE.repeat(12), ...Array.from({ length: 6 }, () => DENSE.repeat(300))])
      used += (await ask(key, content)).tokens;
    expect(used).toBeGreaterThan(limit / 2);
    expect(used).toBeLessThanOrEqual(limit);
  });

  test("is not exceeded by concurrent calls whose text takes more tokens than the learned ratio predicts", async () => {
    const { id, key } = await team("taught");
    const limit = 30_000;
    await set(`${id}/llm-global-limits`, { llm_global_limits: { tokens: { daily_limit: limit } } });
    let used = 0;
    for (const content of ["\u4e2d".repeat(2_000), "<|endoftext|>".repeat(500), PROSE.repeat(100)])
      used += (await ask(key, content)).tokens;
    const replies = await Promise.all(Array.from({ length: 24 }, () => ask(key, DENSE.repeat(400))));
    used += replies.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(used).toBeLessThanOrEqual(limit);
  });

  test("is not exceeded by concurrent calls", async () => {
    const { id, key } = await team("at once");
    const limit = 4_000;
    await set(`${id}/llm-global-limits`, { llm_global_limits: { tokens: { daily_limit: limit } } });
    const replies = await Promise.all(Array.from({ length: 24 }, () => ask(key, PROSE.repeat(8))));
    const used = replies.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(used).toBeLessThanOrEqual(limit);
    expect(limit - used).toBeLessThan((countTokens(PROSE.repeat(8)) + 7 + ANSWER) * 1.05);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  });
});

test("the utilization header counts throughput limits too", async () => {
  const { id, key } = await team("paced");
  await set(`${id}/llm-global-limits`, {
    llm_global_limits: {
      requests: { daily_limit: 100 },
      // A burst of four refills one per minute, so the machine's speed matters little.
      throughput: { max_requests_per_minute: 1, request_burst: 4, max_input_tokens_per_minute: 1_000_000 },
    },
  });
  const told = async () => {
    const { status, headers } = await ask(key, "hi");
    return [status, headers.get("x-gw-usage-utilization"), headers.get("x-usage-warning")];
  };
  const since = performance.now();
  for (const used of [25, 50, 75, 100]) {
    const [status, utilization, warning] = await told();
    expect([status, warning]).toEqual([200, used < 100 ? null : expect.stringContaining("requests per minute limit: 4 of 4 used")]);
    // A quarter refills per minute, and no more time can have passed than since the first request was sent.
    const back = ((performance.now() - since) / 60_000) * 25;
    expect(Number(utilization)).toBeWithin(Math.floor(used - back), used + 1);
  }
  expect(await told()).toEqual([429, "100", null]);
});

test("the warning about a limit on dollars per minute gives the amounts in dollars", async () => {
  const { id, key } = await team("spends");
  const prices = { input_cost_per_million_tokens: 0, output_cost_per_million_tokens: 100 };
  expect((await world.admin.request("PATCH", `/v1/admin/llms/${models.counted}`, prices)).status).toBe(200);
  // The refill per minute is so small that no second of it counts.
  await set(`${id}/llm-global-limits`, { llm_global_limits: { throughput: { max_usd_per_minute: 0.000001, usd_burst: 0.0045 } } });
  expect((await ask(key, "hi")).headers.get("x-usage-warning")).toBeNull();
  expect((await ask(key, "hi")).headers.get("x-usage-warning")).toBe("usd per minute limit: $0.004 of $0.0045 used");
});
