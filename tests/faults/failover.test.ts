import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowsOf, type Served, serveModels } from "../support/worlds/admin.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * A routing group with one member that always fails, one that never answers, and one that works but breaks off some of its streams: every
 * call that the third could serve is served, and the rows record every attempt.
 */

const CALLS = Number(process.env.FAILOVER_CALLS ?? 2000);
const AT_ONCE = 32;

let world: World;
let admin: AdminClient;
let served: Served;
let members: ReturnType<typeof startMembers>;

beforeAll(async () => {
  members = startMembers();
  world = await startWorld({ GW_UPSTREAM_TIMEOUT_SECONDS: "5" });
  ({ admin } = world);
  const tenant = { tenant_id: "default" };
  await admin.post("/v1/admin/llm-router/routing-groups", {
    ...tenant,
    id: "team-model",
    name: "Team model",
    mode: "chat",
    num_retries: 5,
    timeout: 1,
    allowed_fails: 3,
    cooldown_window: 5,
    cooldown_time: 1,
  });
  served = await serveModels(
    admin,
    members.baseUrl,
    ["fails", "hangs", "serves"].map((name) => ({
      name,
      routing_group_id: "team-model",
      routing_weight: 1,
      input_cost_per_million_tokens: 1,
      output_cost_per_million_tokens: 2,
    })),
  );
});

afterAll(async () => {
  await world.end();
  await members.stop();
});

describe("a routing group with failing members", () => {
  test(
    `${CALLS} calls: each succeeds or ends in a visible error, and each has its row`,
    async () => {
      const outcomes = { whole: 0, streamed: 0, torn: 0, refused: 0 };
      let next = 0;
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next < CALLS) {
            const stream = next++ % 2 === 1;
            const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
              method: "POST",
              headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json" },
              body: JSON.stringify({ model: "team-model", stream, messages: [{ role: "user", content: "Hi" }] }),
            });
            const text = await response.text();
            if (response.status !== 200) outcomes.refused++;
            else if (!stream) outcomes.whole += Number(JSON.parse(text).choices[0].message.content === "served");
            else if (text.includes('"error"')) outcomes.torn++;
            else {
              expect(text).toEndWith("data: [DONE]\n\n");
              outcomes.streamed += Number(wordsOf(text) === "served");
            }
          }
        }),
      );
      console.log(`  ${JSON.stringify(outcomes)}; requests to the members: ${JSON.stringify(members.seen)}`);
      // Only answers that the third member broke off after they had begun cannot be served by anyone.
      expect(outcomes.refused).toBe(0);
      expect(outcomes.whole + outcomes.streamed + outcomes.torn).toBe(CALLS);
      expect(outcomes.torn).toBe(members.torn());

      const rows = await allRows();
      expect(rows).toHaveLength(CALLS);
      expect(rows.filter((row) => !row.success)).toHaveLength(outcomes.torn);
      const told: Record<string, number> = { fails: 0, hangs: 0, serves: 0 };
      for (const row of rows) {
        const attempts: { model: string; outcome: string }[] = row.custom_metadata?.attempts ?? [
          { model: row.llm_model_used, outcome: "served" },
        ];
        for (const { model } of attempts) told[model] = (told[model] ?? 0) + 1;
        expect(row.llm_model_requested).toBe("team-model");
        expect(row.llm_model_used).toBe("serves");
        const first = attempts[0] as { model: string; outcome: string };
        const fallback = attempts.some(({ model }) => model !== first.model);
        expect([row.llm_used_fallback, row.llm_fallback_reason]).toEqual(fallback ? [true, first.outcome] : [false, null]);
        for (const attempt of attempts.slice(0, -1)) {
          expect(attempt.outcome).toBe(
            attempt.model === "fails" ? "upstream_error" : attempt.model === "hangs" ? "upstream_timeout" : "upstream_interrupted",
          );
        }
      }
      expect(told).toEqual(members.seen);
    },
    LONG_TEST_MS,
  );

  test("circuit breakers keep calls away from the failing members", () => {
    expect(members.seen.fails as number).toBeLessThan(CALLS / 4);
    expect(members.seen.hangs as number).toBeLessThan(CALLS / 4);
  });

  test("a request refused by one member is not sent to another", async () => {
    await admin.post("/v1/admin/llm-router/routing-groups", {
      tenant_id: "default",
      id: "strict",
      name: "Strict",
      mode: "chat",
      routing_strategy: "ordered",
    });
    const provider = { tenant_id: "default", provider: "fake", mode: "chat", group_ids: [served.groupId], routing_group_id: "strict" };
    await admin.post("/v1/admin/llms", { ...provider, name: "refuses", model_name: "refuses", routing_weight: 2 });
    await admin.post("/v1/admin/llms", { ...provider, name: "spare", model_name: "serves", routing_weight: 1 });
    const before = { ...members.seen };
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "strict", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: "no" } });
    expect(members.seen.serves).toBe(before.serves as number);
  });
});

function wordsOf(text: string): string {
  const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  return frames.map((frame) => JSON.parse(frame.slice(6)).choices[0]?.delta?.content ?? "").join("");
}

async function allRows(): Promise<any[]> {
  const first = await rowsOf(admin, { proxy_subtype: "chat_completions" }, 200);
  expect(first.length).toBe(200);
  const deadline = Date.now() + PATIENCE_MS;
  const page = (number: number) =>
    admin.post("/v1/admin/proxy-logs/query", { filters: { proxy_subtype: "chat_completions" }, page: number, page_size: 200 });
  for (;;) {
    // Rows that arrive between two pages would shift the pages, so reading starts once the last page is complete.
    if ((await page(CALLS / 200)).rows.length === 200 || Date.now() > deadline) {
      const rows: any[] = [];
      for (let at = 1; ; at++) {
        const answer = await page(at);
        rows.push(...answer.rows);
        if (rows.length >= answer.total) return rows;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function startMembers() {
  const seen: Record<string, number> = { fails: 0, hangs: 0, serves: 0 };
  let tornStreams = 0;
  let streams = 0;
  const encoder = new TextEncoder();
  const frame = (delta: unknown, finish: string | null = null) =>
    encoder.encode(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { model, stream } = (await request.json()) as { model: string; stream?: boolean };
      seen[model] = (seen[model] ?? 0) + 1;
      if (model === "fails") return Response.json({ error: { message: "down" } }, { status: 500 });
      if (model === "refuses") return Response.json({ error: { message: "no", type: "invalid_request_error" } }, { status: 400 });
      if (model === "hangs") return new Promise<Response>(() => undefined);
      if (stream !== true)
        return Response.json({
          id: "c",
          object: "chat.completion",
          created: 1,
          model,
          choices: [{ index: 0, message: { role: "assistant", content: "served" }, finish_reason: "stop" }],
          usage,
        });
      const nth = streams++;
      const early = nth % 11 === 5;
      const late = nth % 13 === 7 && !early;
      if (late) tornStreams++;
      const done = encoder.encode(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices: [], usage })}\n\ndata: [DONE]\n\n`,
      );
      const pieces = early
        ? [frame({ role: "assistant", content: "" })]
        : late
          ? [frame({ role: "assistant", content: "" }), frame({ content: "ser" })]
          : [frame({ role: "assistant", content: "" }), frame({ content: "ser" }), frame({ content: "ved" }), frame({}, "stop"), done];
      return new Response(new Blob(pieces as BlobPart[]).stream(), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, seen, torn: () => tornStreams, stop: () => server.stop(true) };
}
