import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type AdminClient, type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { type DatabaseProxy, databaseProxy } from "../support/processes/database-proxy.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { newPerson } from "../support/worlds/portal.ts";

/** PostgreSQL becomes unreachable under load: connections break and new ones fail, for a second and for longer. */
const LONG_SECONDS = Number(process.env.DATABASE_AWAY_SECONDS ?? 6);
const CALLERS = 4;
const JOURNAL_MB = 16;

let database: TestDatabase;
let proxy: DatabaseProxy;
let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;

beforeAll(async () => {
  database = await testDatabase();
  proxy = await databaseProxy(database.url);
  upstream = startFakeUpstream();
  gateway = await startGateway({ databaseUrl: proxy.url });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1"]);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await proxy.close();
  await database.close();
  await removeDirectory(gateway.dataDir);
});

let calls = 0;

/** Makes one call; resolves with its correlation ID and status. */
async function call(text = "hello"): Promise<{ id: string; status: number; code: string | undefined }> {
  const id = `call-${++calls}`;
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-correlation-id": id },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: text }] }),
  });
  const body = (await response.json()) as { code?: string };
  return { id, status: response.status, code: body.code };
}

const metric = async (name: string): Promise<number> =>
  Number(
    (await (await fetch(`${gateway.adminUrl}/metrics`)).text())
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );

async function shipped(): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while ((await metric("gatehouse_ledger_unshipped_rows")) > 0)
    if (Date.now() > deadline) throw new Error(`rows do not reach the database:\n${gateway.output().slice(-2_000)}`);
}

async function recorded(): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ id: string; n: number }>(
    "SELECT correlation_id AS id, count(*)::int AS n FROM audit_rows WHERE correlation_id LIKE 'call-%' GROUP BY 1",
  );
  await client.end();
  return new Map(rows.map(({ id, n }) => [id, n]));
}

async function chainIsIntact(): Promise<void> {
  const { chains } = await admin.get("/v1/admin/audit/chains");
  for (const { chain_id } of chains)
    expect(await admin.post(`/v1/admin/audit/chains/${chain_id}/verify`, {})).toMatchObject({ verdict: "intact", findings: [] });
}

for (const seconds of [1, LONG_SECONDS]) {
  test(`PostgreSQL unreachable for ${seconds} s: no call fails, no row is lost or doubled, memory stays bounded`, async () => {
    const answered: string[] = [];
    const failed: unknown[] = [];
    let over = false;
    const before = await metric("gatehouse_resident_memory_bytes");
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over) {
        const { id, status, code } = await call();
        if (status === 200) answered.push(id);
        else failed.push({ status, code });
      }
    });
    const reached = (count: number) => until(() => answered.length + failed.length >= count);
    await reached(50);
    await proxy.stop();
    const away = performance.now();
    const atStop = answered.length;
    await until(() => performance.now() - away >= seconds * 1000);
    const waiting = await metric("gatehouse_ledger_unshipped_rows");
    const during = answered.length - atStop;
    const memory = await metric("gatehouse_resident_memory_bytes");
    await proxy.start();
    await reached(answered.length + 50);
    over = true;
    await Promise.all(callers);
    await shipped();

    expect(failed).toEqual([]);
    expect(waiting).toBeGreaterThan(0);
    const rows = await recorded();
    expect(answered.filter((id) => rows.get(id) !== 1)).toEqual([]);
    expect([...rows.values()].filter((count) => count !== 1)).toEqual([]);
    expect(memory - before).toBeLessThan(200 * 1024 * 1024);
    await chainIsIntact();
    console.log(
      `  away ${seconds} s: ${during} calls answered meanwhile, ${waiting} rows waited, 0 failed, 0 lost, 0 doubled; memory ${Math.round(before / 2 ** 20)} to ${Math.round(memory / 2 ** 20)} MiB`,
    );
  });
}

test("requests that need rows from the database get 503 with a retry-after", async () => {
  const person = await newPerson(gateway.runtimeUrl, "person");
  const span = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    name: "chat",
    startTimeUnixNano: "1",
    endTimeUnixNano: "2",
  };
  const asks = [
    () =>
      fetch(`${gateway.runtimeUrl}/v1/ingest/otel/v1/traces`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": served.apiKey },
        body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
      }),
    () => person.request("POST", "/runs/none/feedback", { score: 1 }),
    () => fetch(`${gateway.runtimeUrl}/v1/runs/none`, { headers: { "x-api-key": served.apiKey } }),
  ];
  // From here on the process has all these callers in its cache.
  expect((await Promise.all(asks.map((ask) => ask()))).map(({ status }) => status)).toEqual([200, 404, 404]);
  await proxy.stop();
  await call();
  const answers = await Promise.all(asks.map((ask) => ask()));
  await proxy.start();
  expect(answers.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
    [503, "1"],
    [503, "1"],
    [503, "1"],
  ]);
  await shipped();
});

test("a full journal refuses calls with 503 before anything is sent, and accepts them again when there is room", async () => {
  await gateway.stop();
  gateway = await startGateway({ databaseUrl: proxy.url, dataDir: gateway.dataDir, env: { GW_AUDIT_JOURNAL_MAX_MB: String(JOURNAL_MB) } });
  expect((await call()).status).toBe(200);
  await shipped();
  await proxy.stop();
  const long = "word ".repeat(6_000);
  const answered: string[] = [];
  const refused: { id: string; status: number; code: string | undefined }[] = [];
  const seen = upstream.seen.length;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let mine = 0; mine < 5;) {
        const told = await call(long);
        if (told.status === 200) answered.push(told.id);
        else {
          mine++;
          refused.push(told);
        }
      }
    }),
  );
  expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).toEqual(new Set(["503 audit_unavailable"]));
  expect(upstream.seen.length - seen).toBe(answered.length);
  expect(await metric("gatehouse_ledger_refused_total")).toBe(refused.length);
  expect((await fetch(`${gateway.runtimeUrl}/readyz`)).status).toBe(503);
  await proxy.start();
  await shipped();
  admin = await signIn(gateway.adminUrl);
  expect((await call()).status).toBe(200);
  await shipped();
  const rows = await recorded();
  expect(answered.filter((id) => rows.get(id) !== 1)).toEqual([]);
  expect(refused.filter(({ id }) => rows.has(id))).toEqual([]);
  await chainIsIntact();
  console.log(
    `  journal of ${JOURNAL_MB} MB: ${answered.length} calls recorded, then ${refused.length} of ${refused.length} refused and none of them sent upstream`,
  );
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
