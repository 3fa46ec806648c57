import { afterAll, expect, test } from "bun:test";
import { type AdminClient, type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { type Balancer, startBalancer } from "../support/processes/balancer.ts";
import { type DatabaseProxy, databaseProxy } from "../support/processes/database-proxy.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/processes/replicated-postgres.ts";
import { haveValkey, startValkey, type TestValkey } from "../support/processes/valkey.ts";

/**
 * Three gateways behind a load balancer, with Valkey and a PostgreSQL that has a standby. Under load, one fault after the other in random
 * order: a process is killed, one is replaced, PostgreSQL fails over or freezes, Valkey dies and comes back empty. CHAOS_SECONDS sets the
 * duration: 30 by default, 3600 for an hour.
 */
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 30);
const SEED = Number(process.env.CHAOS_SEED ?? 1);
const CALLERS = 4;
const PAUSE_MS = 15;
/** The number of calls that each budget covers; no call costs more than the worst case held for it. */
const WORTH = 40;
const COST = 2_000;
const FLEET = {
  GW_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
  GW_JWT_SECRET: "one secret for the whole fleet, for tests",
  GW_QUICKSTART: "off",
  GW_DRAIN_NOTICE_SECONDS: "1",
};

let folder: string;
let postgres: ReplicatedPostgres;
let proxy: DatabaseProxy;
let valkey: TestValkey;
let balancer: Balancer;
let upstream: FakeUpstream;
let admin: AdminClient;
let served: Served;
const fleet: GatewayProcess[] = [];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function started(roles: string, dataDir?: string): Promise<GatewayProcess> {
  const env = { ...FLEET, GW_ROLES: roles, VALKEY_URL: valkey.url };
  const gateway = await startGateway({ databaseUrl: proxy.url, env, ...(dataDir === undefined ? {} : { dataDir }) });
  balancer.add(gateway.runtimeUrl);
  await balancer.ready(gateway.runtimeUrl);
  return gateway;
}

const rolesOf = (index: number) => (index === 0 ? "runtime,control,worker" : "runtime");

async function startEverything(): Promise<void> {
  folder = await temporaryDirectory();
  postgres = await startReplicatedPostgres(folder);
  proxy = await databaseProxy(postgres.url);
  valkey = await startValkey();
  balancer = await startBalancer();
  upstream = startFakeUpstream();
  for (let i = 0; i < 3; i++) fleet.push(await started(rolesOf(i)));
  admin = await signIn((fleet[0] as GatewayProcess).adminUrl);
  served = await serveModels(admin, upstream.baseUrl, [
    { name: "fake-1", input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 2 },
  ]);
}

afterAll(async () => {
  if (!haveValkey) return;
  for (const gateway of fleet) if (gateway.running()) await gateway.stop();
  await balancer?.close();
  await proxy?.close();
  await postgres?.stop();
  await valkey?.stop();
  await upstream?.stop();
  for (const { dataDir } of fleet) await removeDirectory(dataDir);
  await removeDirectory(folder);
});

async function team(name: string): Promise<string> {
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, parent_group_id: served.groupId });
  const limits = { budget: { daily_limit_usd: (WORTH * COST + COST / 2) / 1e6, hard_stop: true } };
  expect((await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, { llm_global_limits: limits })).status).toBe(
    200,
  );
  const key = (await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name, access_mode: "shared" })).key_value;
  for (const { runtimeUrl } of fleet) await met(runtimeUrl, key);
  return key;
}

/** Resolves once the process enforces the budget, which takes under a second without faults. Does not spend any of it. */
async function met(runtimeUrl: string, key: string): Promise<void> {
  const body = JSON.stringify({ model: "fake-1", max_tokens: 1_000_000, messages: [{ role: "user", content: "too much" }] });
  const headers = { "content-type": "application/json", "x-api-key": key };
  const deadline = Date.now() + PATIENCE_MS;
  while ((await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers, body })).status !== 429) {
    if (Date.now() > deadline) throw new Error(`${runtimeUrl} does not hear of the budget`);
    await pause(50);
  }
}

/** The outcome of each call. */
interface Load {
  readonly answers: Map<string, number>;
  readonly answered: string[];
  /** Correlation IDs by the name of the budget they were sent under. */
  readonly sent: Map<string, string>;
  budget: { name: string; key: string } | null;
  running: boolean;
}

async function caller(load: Load, number: number): Promise<void> {
  for (let i = 0; load.running; i++) {
    const correlation = `chaos-${number}-${i}`;
    const budget = i % 2 === 0 ? load.budget : null;
    load.sent.set(correlation, budget?.name ?? "free");
    const body = { model: "fake-1", max_tokens: 1000, stream: i % 3 === 0, messages: [{ role: "user", content: correlation }] };
    const answer = await fetch(`${balancer.url}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": budget?.key ?? served.apiKey, "x-correlation-id": correlation },
      body: JSON.stringify(body),
    })
      .then(async (reply) => {
        const text = await reply.text();
        if (!reply.ok) return `${reply.status} ${text.slice(0, 120)}`;
        if (i % 3 === 0 && !text.includes("[DONE]")) return "torn";
        load.answered.push(correlation);
        return "served";
      })
      .catch((error: Error) => error.message.slice(0, 60));
    load.answers.set(answer, (load.answers.get(answer) ?? 0) + 1);
    await pause(PAUSE_MS);
  }
}

/** Random integers from 0 to `n - 1`, the same on every run. */
function drawing(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % n;
  };
}

async function replaced(index: number, how: "kill" | "stop"): Promise<void> {
  const old = fleet[index] as GatewayProcess;
  if (how === "kill") await old.kill();
  else expect(await old.stop()).toBe(0);
  balancer.remove(old.runtimeUrl);
  await pause(200);
  fleet[index] = await started(rolesOf(index), old.dataDir);
  if (index === 0) admin = await signIn((fleet[0] as GatewayProcess).adminUrl);
}

const FAULTS: Record<string, (draw: (n: number) => number) => Promise<void>> = {
  "a process killed": (draw) => replaced(draw(3), "kill"),
  "a process replaced": (draw) => replaced(draw(3), "stop"),
  async "PostgreSQL failed over"() {
    await proxy.stop();
    await postgres.failOver();
    proxy.leadTo(postgres.url);
    await proxy.start();
  },
  async "PostgreSQL silent for 2 s"() {
    proxy.silence();
    await pause(2_000);
    await proxy.stop();
    await proxy.start();
  },
  async "Valkey gone and back, empty"() {
    const port = Number(new URL(valkey.url).port);
    await valkey.kill();
    await pause(1_000);
    valkey = await startValkey(port);
  },
};

async function ready(): Promise<void> {
  for (const { runtimeUrl } of fleet) {
    const deadline = Date.now() + PATIENCE_MS;
    while ((await fetch(`${runtimeUrl}/readyz`)).status !== 200) {
      if (Date.now() > deadline) throw new Error(`${runtimeUrl} does not become ready`);
      await pause(50);
    }
  }
}

async function shipped(): Promise<void> {
  for (const { adminUrl } of fleet) {
    const deadline = Date.now() + PATIENCE_MS;
    while (!/^gatehouse_ledger_unshipped_rows 0$/m.test(await (await fetch(`${adminUrl}/metrics`)).text())) {
      if (Date.now() > deadline) throw new Error("a journal does not reach the database");
      await pause(50);
    }
  }
}

test.skipIf(!haveValkey)(
  `${SECONDS} s of chaos on a fleet of three: no row lost or doubled, no budget overspent, every chain intact`,
  async () => {
    await startEverything();
    const draw = drawing(SEED);
    const load: Load = { answers: new Map(), answered: [], sent: new Map(), budget: null, running: true };
    const callers = Array.from({ length: CALLERS }, (_, i) => caller(load, i));
    const done = new Map<string, number>();
    const until = Date.now() + SECONDS * 1_000;
    const names = Object.keys(FAULTS);
    for (let round = 0; round < names.length || Date.now() < until; round++) {
      const name = `budget-${round}`;
      load.budget = { name, key: await team(name) };
      await pause(500 + draw(500));
      // Each fault once, then at random.
      const fault = names[round < names.length ? round : draw(names.length)] as string;
      await (FAULTS[fault] as (typeof FAULTS)[string])(draw);
      done.set(fault, (done.get(fault) ?? 0) + 1);
      await ready();
    }
    load.running = false;
    await Promise.all(callers);
    await shipped();

    const recorded = new Map<string, number>();
    const spent = new Map<string, number>();
    for (let page = 1; ; page++) {
      const { rows } = await admin.post("/v1/admin/proxy-logs/query", {
        filters: { proxy_subtype: "chat_completions" },
        page,
        page_size: 200,
      });
      for (const row of rows.filter(({ correlation_id }: { correlation_id: string }) => load.sent.has(correlation_id))) {
        recorded.set(row.correlation_id, (recorded.get(row.correlation_id) ?? 0) + 1);
        const budget = load.sent.get(row.correlation_id) as string;
        spent.set(budget, (spent.get(budget) ?? 0) + Math.round((row.llm_estimated_cost_usd ?? 0) * 1e6));
      }
      if (rows.length < 200) break;
    }
    const reached = upstream.seen.map(({ body }) => JSON.parse(body).messages[0].content as string).filter((one) => load.sent.has(one));
    console.log(`  ${load.sent.size} calls, ${reached.length} reached the upstream, ${recorded.size} rows;`, Object.fromEntries(done));
    console.log("  what callers heard:", Object.fromEntries(load.answers));
    expect(reached.filter((one) => recorded.get(one) !== 1)).toEqual([]);
    expect(load.answered.filter((one) => recorded.get(one) !== 1)).toEqual([]);
    expect([...recorded].filter(([, count]) => count !== 1)).toEqual([]);
    spent.delete("free");
    expect([...spent].filter(([, micros]) => micros > WORTH * COST + COST / 2)).toEqual([]);
    const { chains } = await admin.get("/v1/admin/audit/chains");
    expect(chains).toHaveLength(3);
    for (const { chain_id } of chains)
      expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact", findings: [] });
  },
  LONG_TEST_MS + SECONDS * 4_000,
);
