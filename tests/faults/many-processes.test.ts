import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AdminClient, rowsOf, type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { type RawReply, rawPost } from "../support/formats/raw-call.ts";
import { nextLook } from "../support/until.ts";
import { haveValkey, startValkey } from "../support/processes/valkey.ts";

/**
 * One gateway of several processes behind one port, each of which is killed while all serve: the limits hold as in a single process,
 * nothing is lost or duplicated, and an acknowledged admin change is in force in all processes.
 */
const PROCESSES = 3;
const ROUNDS = Number(process.env.MANY_PROCESSES_ROUNDS ?? 8);

let gateway: GatewayProcess;
let admin: AdminClient;
let upstream: FakeUpstream;
let served: Served;

const start = (processes: number, dataDir?: string, env: Record<string, string> = {}) =>
  startGateway({ env: { GW_PROCESSES: String(processes), GW_QUICKSTART: "off", ...env }, ...(dataDir === undefined ? {} : { dataDir }) });

beforeAll(async () => {
  upstream = startFakeUpstream();
  gateway = await start(PROCESSES);
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, [
    { name: "fake-1", input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 2 },
  ]);
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await removeDirectory(gateway.dataDir);
});

async function team(name: string, limits: object): Promise<string> {
  const { id } = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, parent_group_id: served.groupId });
  const { status } = await admin.request("PATCH", `/v1/admin/resource-groups/${id}/llm-global-limits`, { llm_global_limits: limits });
  expect(status).toBe(200);
  return (await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name, access_mode: "shared" })).key_value;
}

/** Uses a new connection, so that the kernel picks the process again. */
function call(key: string, correlation: string): Promise<RawReply> {
  const body = JSON.stringify({ model: "fake-1", max_tokens: 1000, messages: [{ role: "user", content: correlation }] });
  return rawPost(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, { "x-api-key": key, "x-correlation-id": correlation }, body);
}

async function allOf(calls: readonly Promise<RawReply>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** PIDs of the other processes by process number, from the gateway's log. */
function pids(): Map<number, number> {
  const found = new Map<number, number>();
  for (const line of gateway.output().split("\n"))
    if (line.includes('"process_started"')) {
      const { process: number, pid } = JSON.parse(line);
      found.set(number, pid);
    }
  return found;
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const begun = Date.now(); !(await holds()); await nextLook(begun))
    if (Date.now() > begun + PATIENCE_MS) throw new Error(`${what} does not come; the gateway said:\n${gateway.output()}`);
}

const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).text();
const shipped = async () => {
  const values = [...(await metrics()).matchAll(/^gatehouse_ledger_unshipped_rows\{process="\d"\} (\d+)$/gm)].map((one) => Number(one[1]));
  return values.length === PROCESSES && values.every((value) => value === 0);
};

test("every process serves calls with a chain of its own and its own metrics", async () => {
  const key = await team("everybody", {});
  expect(await allOf(Array.from({ length: 90 }, (_, i) => call(key, `served-${i}`)))).toEqual({ 200: 90 });
  const text = await metrics();
  const calls = [...text.matchAll(/^gatehouse_calls_total\{.*status="200".*process="(\d)"\} (\d+)$/gm)];
  expect(new Set(calls.map((one) => one[1]))).toEqual(new Set(["1", "2", "3"]));
  expect(calls.reduce((sum, one) => sum + Number(one[2]), 0)).toBe(90);
  await until("every row", shipped);
  expect((await admin.get("/v1/admin/audit/chains")).chains).toHaveLength(PROCESSES);
});

test("a process that fails to start is reported in the metrics until it serves again", async () => {
  const directory = join(gateway.dataDir, "processes", "2");
  renameSync(directory, `${directory}-away`);
  writeFileSync(directory, "");
  process.kill(pids().get(2) as number, "SIGKILL");
  await until("its death", async () => (await metrics()).includes('gatehouse_process_serving{process="2"} 0'));
  expect(await metrics()).toContain('gatehouse_process_serving{process="3"} 1');
  rmSync(directory);
  renameSync(`${directory}-away`, directory);
  await until("process 2", async () => (await metrics()).includes('gatehouse_process_serving{process="2"} 1'));
  const text = await metrics();
  expect(Number(/^gatehouse_process_deaths_total\{process="2"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  expect(text).toContain('gatehouse_process_deaths_total{process="3"} 0');
});

test("limits hold exactly over all processes", async () => {
  for (let round = 0; round < Math.max(5, ROUNDS); round++) {
    const quota = await team(`quota ${round}`, { requests: { daily_limit: 7 } });
    expect(await allOf(Array.from({ length: 30 }, (_, i) => call(quota, `quota-${round}-${i}`)))).toEqual({ 200: 7, 429: 23 });
    const rate = await team(`rate ${round}`, { throughput: { max_requests_per_minute: 5, request_burst: 5 } });
    expect(await allOf(Array.from({ length: 30 }, (_, i) => call(rate, `rate-${round}-${i}`)))).toEqual({ 200: 5, 429: 25 });
    // Each answer has 1,000 input tokens at $1 a million and 500 output tokens at $2: it costs $0.002, no more than is held for it.
    const budget = await team(`budget ${round}`, { budget: { daily_limit_usd: 0.0105, hard_stop: true } });
    const { 200: passed } = await allOf(Array.from({ length: 30 }, (_, i) => call(budget, `budget-${round}-${i}`)));
    expect(passed).toBe(5);
  }
});

test("a revoked key is refused by all processes once the admin request is answered", async () => {
  for (let round = 0; round < 5; round++) {
    const key = await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
      name: `revoked ${round}`,
      access_mode: "shared",
    });
    expect(await allOf(Array.from({ length: 12 }, (_, i) => call(key.key_value, `live-${round}-${i}`)))).toEqual({ 200: 12 });
    expect((await admin.request("DELETE", `/v1/admin/api-keys/${key.id}`)).status).toBeLessThan(300);
    expect(await allOf(Array.from({ length: 12 }, (_, i) => call(key.key_value, `revoked-${round}-${i}`)))).toEqual({ 401: 12 });
  }
});

test("any process ends a run and joins a span, whichever served the calls", async () => {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    rawPost(`${gateway.runtimeUrl}${path}`, { "x-api-key": served.apiKey, ...headers }, JSON.stringify(body));
  const chat = (headers: Record<string, string>) =>
    post("/v1/proxy/llm/chat/completions", { model: "fake-1", messages: [{ role: "user", content: "hi" }] }, headers);
  for (let round = 0; round < ROUNDS; round++) {
    const spanId = "b7ad6b7169203331";
    const traceId = `${round}`.padStart(32, "a");
    await chat({ "x-gw-run-id": `run-${round}` });
    await chat({ "x-gw-run-id": `run-${round}`, traceparent: `00-${traceId}-${spanId}-01` });
    const ended = await post(`/v1/runs/run-${round}/end`, { state: "completed", outcome: "resolved" });
    expect([ended.status, JSON.parse(ended.body)]).toMatchObject([200, { state: "completed", outcome: "resolved", calls: 2 }]);

    await chat({ traceparent: `00-${traceId}-00000000000000${10 + round}-01` });
    const now = `${Date.now()}000000`;
    const attributes = [{ key: "gen_ai.operation.name", value: { stringValue: "chat" } }];
    const span = {
      traceId,
      spanId: `00000000000000${10 + round}`,
      name: "chat",
      kind: 3,
      startTimeUnixNano: now,
      endTimeUnixNano: now,
      attributes,
    };
    const told = await post("/v1/ingest/otel/v1/traces", { resourceSpans: [{ scopeSpans: [{ scope: {}, spans: [span] }] }] });
    expect([told.status, JSON.parse(told.body)]).toEqual([200, {}]);
    const [row] = await rowsOf(admin, { trace_id: traceId, source: "otel" }, 1);
    expect(typeof row.custom_metadata.joined_row_id).toBe("string");
  }
});

test("failed logins are throttled as with a single process", async () => {
  await admin.post("/v1/admin/end-users", { tenant_id: "default", username: "guessed", password: "correct horse battery" });
  const body = JSON.stringify({ username: "guessed", password: "wrong horse battery" });
  const guess = () => rawPost(`${gateway.runtimeUrl}/v1/portal/auth/login`, {}, body);
  expect(await allOf(Array.from({ length: 20 }, guess))).toEqual({ 401: 5, 429: 15 });
});

test(
  "a process killed under load is restarted: one row per call that left, no budget overspent, chains intact",
  async () => {
    const WORTH = 400;
    const key = await team("killed", { budget: { daily_limit_usd: WORTH * 0.002, hard_stop: true } });
    const sent = new Set<string>();
    const answered: string[] = [];
    let unavailable = 0;
    let loading = true;
    let n = 0;
    const caller = async () => {
      while (loading) {
        const correlation = `killed-${n++}`;
        sent.add(correlation);
        const { status } = await call(key, correlation);
        if (status === 200) answered.push(correlation);
        if (status === 503) unavailable++;
        if (status === 429) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const callers = Array.from({ length: 6 }, caller);
    for (let round = 0; round < ROUNDS; round++) {
      const number = 2 + (round % (PROCESSES - 1));
      const pid = pids().get(number) as number;
      const before = answered.length + n;
      await until("load", () => answered.length + n > before + 30);
      process.kill(pid, "SIGKILL");
      await until(`process ${number}`, () => pids().get(number) !== pid);
    }
    loading = false;
    await Promise.all(callers);
    await until("every row", shipped);

    const reached = upstream.seen.map(({ body }) => JSON.parse(body).messages[0].content as string).filter((one) => sent.has(one));
    const recorded = new Map<string, number>();
    let micros = 0;
    for (let page = 1; ; page++) {
      const { rows } = await admin.post("/v1/admin/proxy-logs/query", {
        filters: { proxy_subtype: "chat_completions" },
        page,
        page_size: 200,
      });
      for (const row of rows) {
        if (!sent.has(row.correlation_id)) continue;
        recorded.set(row.correlation_id, (recorded.get(row.correlation_id) ?? 0) + 1);
        micros += Math.round((row.llm_estimated_cost_usd ?? 0) * 1e6);
      }
      if (rows.length < 200) break;
    }
    expect(reached.filter((one) => recorded.get(one) !== 1)).toEqual([]);
    expect(answered.filter((one) => recorded.get(one) !== 1)).toEqual([]);
    expect([...recorded].filter(([, count]) => count !== 1)).toEqual([]);
    expect(micros).toBeLessThanOrEqual(WORTH * 2_000);
    // While a process restarts, calls go to those that can answer.
    expect(unavailable).toBe(0);
    const { chains } = await admin.get("/v1/admin/audit/chains");
    expect(chains).toHaveLength(PROCESSES);
    for (const { chain_id } of chains)
      expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact", findings: [] });
    const interrupted = await rowsOf(admin, { error_type: "gateway_interrupted" }, 0);
    console.log(
      `  ${ROUNDS} kills: ${reached.length} calls reached the upstream, ${recorded.size} rows, ${interrupted.length} interrupted`,
    );
  },
  LONG_TEST_MS,
);

test("a restart with a single process takes over the rows and files of the others", async () => {
  expect(await gateway.stop()).toBe(0);
  for (const pid of pids().values()) expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(readdirSync(join(gateway.dataDir, "processes")).toSorted()).toEqual(["2", "3"]);
  gateway = await start(1, gateway.dataDir);
  admin = await signIn(gateway.adminUrl);
  expect(readdirSync(join(gateway.dataDir, "processes"))).toEqual([]);
  const { chains } = await admin.get("/v1/admin/audit/chains");
  expect(chains).toHaveLength(PROCESSES);
  for (const { chain_id } of chains)
    expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact", findings: [] });
  expect(await metrics()).toContain("gatehouse_ledger_unshipped_rows 0");
});

if (haveValkey)
  test("limits hold exactly over all processes with Valkey too", async () => {
    const valkey = await startValkey();
    await gateway.stop();
    gateway = await start(PROCESSES, gateway.dataDir, { VALKEY_URL: valkey.url });
    admin = await signIn(gateway.adminUrl);
    for (let round = 0; round < 5; round++) {
      const quota = await team(`shared quota ${round}`, { requests: { daily_limit: 7 } });
      expect(await allOf(Array.from({ length: 30 }, (_, i) => call(quota, `shared-${round}-${i}`)))).toEqual({ 200: 7, 429: 23 });
    }
    await gateway.stop();
    await valkey.stop();
    gateway = await start(1, gateway.dataDir);
  });

test("a gateway refuses to join a port that another gateway's processes share", async () => {
  await gateway.stop();
  gateway = await start(2, gateway.dataDir);
  const port = new URL(gateway.runtimeUrl).port;
  const refused = await startGateway({ env: { GW_PROCESSES: "2", GW_RUNTIME_PORT: port } }).then(
    () => "started",
    (error: Error) => error.message,
  );
  expect(refused).toContain("is in use by another process");
});

test("a stop does not say that every call has its row if another process was killed before it ended", async () => {
  const pid = pids().get(2) ?? 0;
  process.kill(pid, "SIGSTOP");
  const stopped = gateway.stop();
  await until("the stop", () => gateway.output().includes("Stopping"));
  process.kill(pid, "SIGKILL");
  expect(await stopped).toBe(0);
  expect(gateway.output()).toContain("Stopped, but process 2 ended with SIGKILL: the next start writes the rows");
});
