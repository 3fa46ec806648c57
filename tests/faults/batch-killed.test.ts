import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Served, serveModels, signIn } from "../support/worlds/admin.ts";
import { type DatabaseProxy, databaseProxy } from "../support/processes/database-proxy.ts";
import { type LastingProcess, startLasting } from "../support/processes/lasting-process.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { type DatabaseConnection, openDatabase } from "../../server/store/database.ts";
import { findHome } from "../../server/store/embedded/home.ts";
import { ANSWER_TEXT } from "../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";

/**
 * A process is killed five times, and its database once, while it runs a batch: each line is in the results exactly once, and each call has
 * its row.
 */

/** The full measurement is `BATCH_LINES=10000 npm test -- tests/faults/batch-killed`. */
const LINES = Number(process.env.BATCH_LINES ?? 600);
const WAITED_MS = PATIENCE_MS * Math.max(1, LINES / 1_000);
const POSTGRES = fileURLToPath(new URL("../support/processes/postgres-process.ts", import.meta.url));
const seen: string[] = [];
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    seen.push((JSON.parse(await request.text()) as { messages: { content: string }[] }).messages[0]?.content as string);
    await Bun.sleep(30);
    return new Response(ANSWER_TEXT, { headers: { "content-type": "application/json" } });
  },
});
let home: string;
let postgres: LastingProcess;
let proxy: DatabaseProxy;
let database: DatabaseConnection;
let dataDir: string;
let gateway: GatewayProcess;
let served: Served;

beforeAll(async () => {
  home = await temporaryDirectory();
  const url = await startPostgres();
  proxy = await databaseProxy(url);
  database = openDatabase(proxy.url, { log: jsonLog("error"), max: 2 });
  dataDir = await temporaryDirectory();
  gateway = await startGateway({ databaseUrl: proxy.url, dataDir });
  served = await serveModels(await signIn(gateway.adminUrl), `http://127.0.0.1:${upstream.port}/v1`, [
    { name: "fake-1", input_cost_per_million_tokens: 1, output_cost_per_million_tokens: 2 },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
  await database.close();
  await proxy.close();
  postgres.kill("SIGTERM");
  await postgres.exited;
  await removeDirectory(dataDir);
  await removeDirectory(home);
});

async function startPostgres(): Promise<string> {
  const ready = Promise.withResolvers<string>();
  postgres = await startLasting([process.execPath, POSTGRES, home], {
    onLine: (line, error) => (error ? console.error(line) : ready.resolve(line)),
  });
  void postgres.exited.then((code) => ready.reject(new Error(`PostgreSQL ended with ${code}`)));
  return ready.promise;
}

/** Kills the server and its supervisor at once. */
async function killDatabase(): Promise<void> {
  const postmaster = Number(readFileSync(join(findHome(home).cluster, "postmaster.pid"), "utf8").split("\n")[0]);
  postgres.kill("SIGKILL");
  process.kill(postmaster, "SIGKILL");
  await postgres.exited;
  proxy.leadTo(await startPostgres());
}

async function api(method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}

async function until<T>(look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  for (const end = Date.now() + WAITED_MS; ; await Bun.sleep(50)) {
    const found = await look();
    if (holds(found) || Date.now() > end) return found;
  }
}

test.each([false, true])(
  "five kills with retry_interrupted %p: each line has one result, and each call its row",
  async (again) => {
    seen.length = 0;
    const requests = Array.from({ length: LINES }, (_, i) => ({
      custom_id: `n${i}`,
      body: { messages: [{ role: "user", content: `n${i}` }] },
    }));
    const { id } = JSON.parse(await api("POST", "", { model: "fake-1", requests, retry_interrupted: again }));
    for (let kill = 1; kill <= 5; kill++) {
      const enough = (kill * LINES) / 8;
      await until(
        async () => seen.length,
        (count) => count >= enough,
      );
      if (kill === 3) {
        await killDatabase();
        const then = seen.length;
        await until(
          async () => seen.length,
          (count) => count > then + 50,
        );
      }
      await gateway.kill();
      gateway = await startGateway({ databaseUrl: proxy.url, dataDir });
    }
    const job = await until(
      async () => JSON.parse(await api("GET", `/${id}`)),
      ({ ended_at }) => ended_at !== null,
    );
    expect(job.status).toBe("completed");
    const results = (await api("GET", `/${id}/results`))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.map(({ custom_id }) => custom_id)).toEqual(requests.map(({ custom_id }) => custom_id));
    const interrupted = results.filter(({ error }) => error?.code === "gateway_interrupted");
    const answered = results.filter(({ error }) => error === null);
    expect(interrupted.length + answered.length).toBe(LINES);
    if (again) expect(interrupted).toEqual([]);
    // Without `retry_interrupted`, no call was sent twice.
    if (!again) expect(new Set(seen).size).toBe(seen.length);

    const told = async () => {
      const { rows } = await sql<{ sent: number; cost: number; lines: number }>`
    SELECT count(*) FILTER (WHERE target_url IS NOT NULL)::int AS sent, coalesce(sum(llm_estimated_cost_usd), 0)::float8 AS cost,
       count(DISTINCT custom_metadata->'batch'->>'custom_id')::int AS lines FROM audit_rows WHERE custom_metadata->'batch'->>'job_id' = ${id}`.execute(
        database.db,
      );
      return rows[0] ?? { sent: 0, cost: 0, lines: 0 };
    };
    // A line that was claimed but not sent when its process died has no call and so no row. The last rows may still be in the journal.
    const facts = await until(told, ({ lines, sent }) => lines >= answered.length && sent >= seen.length);
    expect(facts.lines).toBeGreaterThanOrEqual(answered.length);
    expect(facts.sent).toBeGreaterThanOrEqual(seen.length);
    expect(facts.cost).toBeGreaterThan(answered.length * 0.001);
    expect(JSON.parse(await api("GET", `/${id}`)).cost_usd).toBeCloseTo((await told()).cost, 4);
  },
  LONG_TEST_MS,
);
