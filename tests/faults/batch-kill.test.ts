import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf, type Served, serveModels, signIn } from "../support/admin.ts";
import { batchCaller, chatLines } from "../support/batch.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";

/** Processes that die in the middle of a job lose no line, give none twice, and tell what nobody can know. */
const LINES = Number(process.env.BATCH_LINES ?? 1_500);
const KILLS = Number(process.env.BATCH_KILLS ?? 5);

let database: TestDatabase;
let upstream: FakeUpstream;
let dataDir: string;
let gateway: GatewayProcess;
let served: Served;
let admin: AdminClient;

const start = () => startGateway({ databaseUrl: database.url, dataDir });

beforeAll(async () => {
  database = await testDatabase();
  upstream = startFakeUpstream();
  dataDir = await temporaryDirectory();
  gateway = await start();
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1"]);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await database.close();
  await removeDirectory(dataDir);
});

const caller = () => batchCaller(gateway.runtimeUrl, served.apiKey);

for (const retry of [true, false])
  test(`a killed process loses no line and doubles no result, ${retry ? "trying again" : "telling"} what was interrupted`, async () => {
    const seenBefore = upstream.seen.length;
    const { body: made } = await caller().submit({ model: "fake-1", requests: chatLines(LINES), retry_interrupted: retry });
    for (let kill = 1; kill <= KILLS; kill++) {
      await caller().until(made.id, ({ request_counts: counts }) => counts.completed + counts.failed >= (LINES * kill) / (KILLS + 2));
      await gateway.kill();
      gateway = await start();
    }
    const job = await caller().until(made.id);
    const results = await caller().results(job.id);
    expect(results.map(({ custom_id: id }) => id)).toEqual(chatLines(LINES).map(({ custom_id: id }) => id));
    const interrupted = results.filter(({ error }) => error?.code === "gateway_interrupted").length;
    const { completed, failed } = job.request_counts;
    expect([job.status, completed + failed, failed]).toEqual(["completed", LINES, interrupted]);
    if (retry) expect(interrupted).toBe(0);
    admin = await signIn(gateway.adminUrl);
    // Whatever the provider saw has a row, and no line has two that succeeded and are told.
    const rows = await allLines(job.id);
    expect(rows.length).toBeGreaterThanOrEqual(upstream.seen.length - seenBefore);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { response } of results) if (response !== null) expect(byId.get(response.request_id)?.success).toBe(true);
    const told = results.filter(({ response }) => response !== null).map(({ response }) => byId.get(response.request_id));
    expect(job.cost_usd).toBeCloseTo(
      told.reduce((sum, row) => sum + Number(row?.llm_estimated_cost_usd ?? 0), 0),
      6,
    );
  });

async function allLines(jobId: string): Promise<any[]> {
  await rowsOf(admin, { proxy_subtype: "batch_line", parent_request_id: jobId }, 1);
  const rows: any[] = [];
  for (let page = 1; ; page++) {
    const found = await admin.post("/v1/admin/proxy-logs/query", {
      filters: { proxy_subtype: "batch_line", parent_request_id: jobId },
      page,
      page_size: 200,
    });
    rows.push(...found.rows);
    if (found.rows.length < 200) return rows;
  }
}
