import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, rowsOf, signIn } from "../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { rawPost, type RawReply } from "../support/formats/raw-call.ts";
import { nextLook, until } from "../support/until.ts";
import { haveValkey, startValkey, type TestValkey } from "../support/processes/valkey.ts";

/**
 * Two thousand concurrent calls against a hard budget that covers a hundred of them, on a tree of four levels, while a tenth of the
 * upstream calls fail: settled costs stay within the limit at every level, and no call is refused that the budget could have covered once
 * everything is settled.
 */
const CALLS = 2_000;
const WORTH = 100;
// Each call uses 10 input tokens at $1 a million and 20 output tokens at $100 a million.
const COST = 2_010;
const LIMIT = WORTH * COST;
const BODY = JSON.stringify({ model: "metered", max_tokens: 20, messages: [{ role: "user", content: "count me" }] });
/** What the gateway has to hold per call: one input token for each byte. */
const WORST = Buffer.byteLength(BODY) + 20 * 100;

interface Upstream {
  readonly url: string;
  readonly asked: () => number;
  readonly answered: () => number;
  /** Sends `answers` more answers, then none until `goOn`. */
  pauseAfter(answers: number): void;
  goOn(): void;
  stop(): Promise<void>;
}

/** Answers after `delayMs`; every tenth answer is a failure. */
function startUpstream(delayMs: number): Upstream {
  let seen = 0;
  let answered = 0;
  let most = Number.POSITIVE_INFINITY;
  let going = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text();
      const mine = ++seen;
      await Bun.sleep(delayMs + (mine % 7) * 3);
      while (answered >= most) await going.promise;
      if (mine % 10 === 0) return Response.json({ error: { message: "broken" } }, { status: 500 });
      answered++;
      return Response.json({
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "metered",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    asked: () => seen,
    answered: () => answered,
    pauseAfter(answers) {
      going = Promise.withResolvers();
      most = answered + answers;
    },
    goOn() {
      most = Number.POSITIVE_INFINITY;
      going.resolve();
    },
    stop: () => server.stop(true),
  };
}

interface Tree {
  readonly groups: readonly string[];
  readonly keys: readonly string[];
}

/** A tree of four levels, each with the budget, and two leaves with a key each. */
async function makeTree(admin: AdminClient, upstream: string, name: string): Promise<Tree> {
  const tenant = { tenant_id: "default" };
  await admin.post("/v1/admin/providers", {
    ...tenant,
    provider_key: name,
    name,
    api_format: "openai",
    base_url: upstream,
    api_key: "sk-upstream-secret-0001",
  });
  const groups: string[] = [];
  for (let level = 0; level < 3; level++)
    groups.push(
      (await admin.post("/v1/admin/resource-groups", { ...tenant, name: `${name}-${level}`, parent_group_id: groups.at(-1) ?? null })).id,
    );
  await admin.post("/v1/admin/llms", {
    ...tenant,
    name: "metered",
    model_name: "metered",
    provider: name,
    input_cost_per_million_tokens: 1,
    output_cost_per_million_tokens: 100,
    group_ids: [groups[0]],
  });
  for (const id of groups.slice(0, 2))
    await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
      llm_global_limits: { budget: { daily_limit_usd: LIMIT / 1e6, hard_stop: true } },
    });
  const keys: string[] = [];
  for (const leaf of ["a", "b"]) {
    const { id } = await admin.post("/v1/admin/resource-groups", { ...tenant, name: `${name}-3${leaf}`, parent_group_id: groups[2] });
    groups.push(id);
    keys.push((await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: leaf, access_mode: "shared" })).key_value);
  }
  return { groups, keys };
}

const call = (url: string, key: string): Promise<RawReply> => rawPost(`${url}/v1/proxy/llm/chat/completions`, { "x-api-key": key }, BODY);

/** Makes the process load a key and its limits, as for any key in use, without spending anything. */
async function met(url: string, key: string): Promise<void> {
  const body = JSON.stringify({ model: "metered", messages: [{ role: "user", content: "count me" }] });
  for (
    const deadline = Date.now() + PATIENCE_MS;
    (await rawPost(`${url}/v1/messages/count_tokens`, { "x-api-key": key, "anthropic-version": "2023-06-01" }, body)).status !== 200;
  )
    if (Date.now() > deadline) throw new Error("the key is not met");
}

function counted(replies: readonly RawReply[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Micro-dollars recorded in the rows of the group's branch, once all of them are in the database. */
async function settled(database: TestDatabase): Promise<number> {
  const row = await database.db
    .selectFrom("usage_daily")
    .select((eb) => eb.fn.sum<number>("cost_micro_usd").as("micros"))
    .executeTakeFirst();
  return Number(row?.micros ?? 0);
}

async function shipped(gateway: GatewayProcess): Promise<void> {
  const isShipped = async () => /^gatehouse_ledger_unshipped_rows 0$/m.test(await (await fetch(`${gateway.adminUrl}/metrics`)).text());
  for (const begun = Date.now(); !(await isShipped()); await nextLook(begun))
    if (Date.now() > begun + PATIENCE_MS) throw new Error("the journal does not reach the database");
}

describe("one process", () => {
  let database: TestDatabase;
  let upstream: Upstream;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    database = await testDatabase();
    upstream = startUpstream(20);
    gateway = await startGateway({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
    await database.close();
    await removeDirectory(gateway.dataDir);
  });

  test(`${CALLS.toLocaleString("en")} concurrent calls never exceed a budget worth ${WORTH}, also across a restart`, async () => {
    const admin = await signIn(gateway.adminUrl);
    const { keys, groups } = await makeTree(admin, upstream.url, "one");
    for (const key of keys) await met(gateway.runtimeUrl, key);
    const began = performance.now();
    const replies = await Promise.all(Array.from({ length: CALLS }, (_, i) => call(gateway.runtimeUrl, keys[i % 2] as string)));
    const seconds = (performance.now() - began) / 1000;
    await shipped(gateway);
    const spent = await settled(database);
    const counts = counted(replies);
    console.log(`one process: ${JSON.stringify(counts)}, ${spent} of ${LIMIT} micro-dollars settled, ${seconds.toFixed(1)} s`);
    expect(spent).toBe((counts[200] ?? 0) * COST);
    expect(spent).toBeLessThanOrEqual(LIMIT);
    expect(LIMIT - spent).toBeLessThan(WORST);
    expect((counts[200] ?? 0) + (counts[502] ?? 0) + (counts[429] ?? 0)).toBe(CALLS);
    for (const id of groups.slice(0, 2)) {
      const { limits } = await admin.get(`/v1/admin/resource-groups/${id}/consumption`);
      expect(limits[0]).toMatchObject({ current: spent / 1e6, limit: LIMIT / 1e6 });
    }

    // Killed and restarted: the counters are where they were, to the token.
    await gateway.kill();
    gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
    const again = await call(gateway.runtimeUrl, keys[0] as string);
    expect([again.status, JSON.parse(again.body).usage_limit.current_usage]).toEqual([429, spent / 1e6]);
  });

  test("a tightened limit applies at once", async () => {
    const admin = await signIn(gateway.adminUrl);
    const [group] = (await admin.get("/v1/admin/resource-groups?tenant_id=default&search=one-3a")).resource_groups;
    const key = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "now", access_mode: "shared" })).key_value;
    await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-limits`, {
      llm_global_limits: { concurrency: { max_concurrent: 0 } },
    });
    const reply = await call(gateway.runtimeUrl, key);
    expect(JSON.parse(reply.body).error.limit_type).toBe("max_concurrent");
  });
});

if (haveValkey) {
  describe("three processes with Valkey", () => {
    let database: TestDatabase;
    let upstream: Upstream;
    let valkey: TestValkey;
    const fleet: GatewayProcess[] = [];
    beforeAll(async () => {
      [database, valkey] = await Promise.all([testDatabase(), startValkey()]);
      upstream = startUpstream(150);
      for (let i = 0; i < 3; i++)
        fleet.push(
          await startGateway({
            databaseUrl: database.url,
            env: { VALKEY_URL: valkey.url, GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") },
          }),
        );
    });
    afterAll(async () => {
      await Promise.all(fleet.map((gateway) => gateway.stop()));
      await upstream.stop();
      await valkey.stop();
      await database.close();
      await Promise.all(fleet.map(({ dataDir }) => removeDirectory(dataDir)));
    });

    test(
      `${CALLS.toLocaleString("en")} concurrent calls never exceed a budget worth ${WORTH}, with a kill and an emptied Valkey`,
      async () => {
        const admin = await signIn((fleet[0] as GatewayProcess).adminUrl);
        const { keys } = await makeTree(admin, upstream.url, "fleet");
        for (const { runtimeUrl } of fleet) for (const key of keys) await met(runtimeUrl, key);
        const third = Math.round(CALLS / 3);
        const send = (places: readonly number[], count: number) =>
          Array.from({ length: count }, (_, i) =>
            call((fleet[places[i % places.length] as number] as GatewayProcess).runtimeUrl, keys[i % 2] as string),
          );
        // However slow the kill is, the process dies holding much of the budget, and before the others can spend the rest.
        upstream.pauseAfter(WORTH / 5);
        const asked = upstream.asked();
        const began = performance.now();
        const calls = send([2], third);
        while (upstream.asked() - asked < WORTH / 2) await Bun.sleep(2);
        calls.push(...send([0, 1], CALLS - third));
        while (upstream.answered() < WORTH / 5) await Bun.sleep(2);
        const killed = fleet[2] as GatewayProcess;
        await killed.kill();
        const killedAfter = upstream.answered();
        upstream.goOn();
        // Restarted, as a supervisor would: its journal tells which calls were recorded.
        fleet[2] = await startGateway({
          databaseUrl: database.url,
          dataDir: killed.dataDir,
          env: { VALKEY_URL: valkey.url, GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") },
        });
        const replies = await Promise.all(calls);
        const seconds = (performance.now() - began) / 1000;
        for (const gateway of fleet) await shipped(gateway);
        const spent = await settled(database);
        const counts = counted(replies);
        console.log(
          `three processes: ${JSON.stringify(counts)} (0: its process was killed, after ${killedAfter} answers), ${spent} of ${LIMIT} micro-dollars settled, ${seconds.toFixed(1)} s`,
        );
        expect(spent).toBeLessThanOrEqual(LIMIT);
        expect(LIMIT - spent).toBeLessThan(WORST);
        expect((counts[200] ?? 0) + (counts[502] ?? 0) + (counts[429] ?? 0) + (counts[0] ?? 0)).toBe(CALLS);
        // What the killed process held was released, or the others would still be waiting.
        expect(seconds).toBeLessThan(150);

        const before = await call((fleet[0] as GatewayProcess).runtimeUrl, keys[0] as string);
        expect(before.status).toBe(429);
        expect(JSON.parse(before.body).usage_limit.current_usage).toBeGreaterThanOrEqual(spent / 1e6);
        await emptied(valkey.url);
        const after = await call((fleet[1] as GatewayProcess).runtimeUrl, keys[1] as string);
        expect([after.status, JSON.parse(after.body).usage_limit.current_usage]).toEqual([429, spent / 1e6]);
      },
      LONG_TEST_MS,
    );

    test("without Valkey a quota refuses calls with 503; calls succeed again once Valkey is back", async () => {
      const admin = await signIn((fleet[0] as GatewayProcess).adminUrl);
      const [root] = (await admin.get("/v1/admin/resource-groups?tenant_id=default&search=fleet-0")).resource_groups;
      const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "away" });
      const [model] = (await admin.get("/v1/admin/llms?tenant_id=default&search=metered")).llms;
      await admin.post(`/v1/admin/resource-groups/${id}/llm-models`, { model_ids: [model.id] });
      const key = (await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name: "away", access_mode: "shared" })).key_value;
      await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, {
        llm_global_limits: { requests: { daily_limit: 1_000 } },
      });
      expect(root.name).toBe("fleet-0");
      const url = (fleet[0] as GatewayProcess).runtimeUrl;
      const ok = async () => {
        const { status } = await call(url, key);
        return status === 200 || status === 502;
      };
      expect(await ok()).toBe(true);
      const port = Number(new URL(valkey.url).port);
      await valkey.kill();
      const refused = await call(url, key);
      expect([refused.status, JSON.parse(refused.body).code]).toEqual([503, "limits_unavailable"]);
      const told = (series: string) =>
        until(
          async () => (await fetch(`${(fleet[0] as GatewayProcess).adminUrl}/metrics`)).text(),
          (text) => text.includes(series),
        );
      await told("gatehouse_limits_store_away 1");
      valkey = await startValkey(port);
      const deadline = Date.now() + PATIENCE_MS;
      while (!(await ok())) if (Date.now() > deadline) throw new Error("calls do not go on");
      await told("gatehouse_limits_store_away 0");
      // Valkey came back empty, yet earlier usage is known.
      const reply = await rawPost(`${url}/v1/proxy/llm/chat/completions`, { "x-api-key": key }, BODY);
      expect(reply.headers).toContain("x-gw-usage-utilization: 0");
      await rowsOf(admin, { resource_group_id: id, llm_model_used: "metered" }, 3);
      const { limits } = await admin.get(`/v1/admin/resource-groups/${id}/consumption`);
      expect(limits[0].current).toBe(3);
    });
  });
}

async function emptied(url: string): Promise<void> {
  const client = new Bun.RedisClient(url);
  await client.send("FLUSHALL", []);
  client.close();
}
