import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { type AdminClient, rowsOf, type Served, serveModels, signIn } from "../support/admin.ts";
import { testDatabase } from "../support/database.ts";
import { ANSWER_TEXT } from "../support/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** A process is killed five times while it runs a batch: each line stands once in the results, and each call has its row. */

const LINES = 600;
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
let database: Awaited<ReturnType<typeof testDatabase>>;
let dataDir: string;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;

beforeAll(async () => {
  database = await testDatabase();
  dataDir = await temporaryDirectory();
  gateway = await startGateway({ databaseUrl: database.url, dataDir });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, `http://127.0.0.1:${upstream.port}/v1`, ["fake-1"]);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
  await database.close();
  await removeDirectory(dataDir);
});

async function api(method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/batch/jobs${path}`, {
    method,
    headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}

async function until<T>(look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; await Bun.sleep(50)) {
    const found = await look();
    if (holds(found) || Date.now() > end) return found;
  }
}

test.each([false, true])("five kills, lines sent again: %p", async (again) => {
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
    await gateway.kill();
    gateway = await startGateway({ databaseUrl: database.url, dataDir });
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
  expect(again ? interrupted.length : answered.length).toBe(again ? 0 : LINES - interrupted.length);
  // A call that was not to be sent again was not.
  if (!again) expect(new Set(seen).size).toBe(seen.length);

  admin = await signIn(gateway.adminUrl);
  const rows = (await rowsOf(admin, { proxy_subtype: "batch_line_chat_completions" }, 1)).length;
  expect(rows).toBeGreaterThan(0);
  const { rows: facts } = await sql<{ sent: number; cost: number; lines: number }>`
    SELECT count(*) FILTER (WHERE target_url IS NOT NULL)::int AS sent, coalesce(sum(llm_estimated_cost_usd), 0)::float8 AS cost,
       count(DISTINCT custom_metadata->'batch'->>'custom_id')::int AS lines FROM audit_rows WHERE custom_metadata->'batch'->>'job_id' = ${id}`.execute(
    database.db,
  );
  // A line that was taken and had not left yet when its process died has no call, and so no row.
  expect(facts[0]?.lines).toBeGreaterThanOrEqual(answered.length);
  expect(facts[0]?.sent).toBeGreaterThanOrEqual(seen.length);
  expect(job.cost_usd).toBeCloseTo(facts[0]?.cost as number, 4);
});
