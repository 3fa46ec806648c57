import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { serveModels, type Served, signIn } from "../support/worlds/admin.ts";
import { testDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { startVideoVendor, type VideoVendor } from "../support/vendors/video-vendor.ts";

/**
 * Two gateways on one database make 200 videos while each is killed again and again, and the provider repeats, delays and loses answers.
 * Each job that a provider accepted has one file, one settlement and one row of its call.
 */
const JOBS = 200;
const KILLS = 4;
const SENDERS = 8;
/** Deterministic, so that a failure can be reproduced. */
let draws = 7;
const draw = (of: number): number => (draws = (draws * 48_271) % 2_147_483_647) % of;
let database: Awaited<ReturnType<typeof testDatabase>>;
let vendor: VideoVendor;
let served: Served;
const gateways: { dataDir: string; process: GatewayProcess }[] = [];

beforeAll(async () => {
  vendor = startVideoVendor({
    takes: () => 1_000 + draw(6_000),
    fault(what) {
      const one = draw(20);
      if (what === "submit") return one === 0 ? "refuse" : one === 1 ? "lose" : null;
      if (what === "poll") return one === 0 ? "refuse" : one === 1 ? "stale" : null;
      return one === 0 ? "tear" : one === 1 ? "refuse" : null;
    },
  });
  database = await testDatabase();
  // A fleet shares its object storage, and so do these two.
  const dirs = [await temporaryDirectory(), await temporaryDirectory()];
  // The first gateway creates what both need, the second finds it.
  for (const dataDir of dirs) gateways.push({ dataDir, process: await start(dataDir) });
  const admin = await signIn(gateways[0]?.process.adminUrl as string);
  served = await serveModels(admin, `${vendor.origin}/v1`, [{ name: "film-1", mode: "video", video_cost_per_second: 0.1 }]);
});

afterAll(async () => {
  for (const { process: gateway } of gateways) await gateway.stop();
  await vendor.stop();
  await database.close();
  for (const { dataDir } of gateways) await removeDirectory(dataDir);
});

let secret: string | null = null;
async function start(dataDir: string): Promise<GatewayProcess> {
  secret ??= Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  return startGateway({ databaseUrl: database.url, dataDir, env: { GW_SECRET_KEY: secret, GW_UPSTREAM_TIMEOUT_SECONDS: "5" } });
}

interface SucceededJob {
  readonly id: string;
  readonly upstream_id: string;
  readonly files: number;
  readonly ends: number;
  readonly cost: number;
  readonly calls: number;
}

async function succeededJobs(): Promise<SucceededJob[]> {
  const { rows } = await sql<SucceededJob>`
    SELECT j.id, j.upstream_id,
      (SELECT count(*)::int FROM files f WHERE f.id = j.output_file_id AND f.deleted_at IS NULL) AS files,
      (SELECT count(*)::int FROM audit_rows a WHERE a.custom_metadata->'video_end'->>'job_id' = j.id AND a.error_type IS NULL) AS ends,
      (SELECT coalesce(sum(a.llm_estimated_cost_usd), 0)::float8 FROM audit_rows a WHERE a.custom_metadata->'video_end'->>'job_id' = j.id) AS cost,
      (SELECT count(*)::int FROM audit_rows a WHERE a.id = j.request_id AND a.proxy_subtype = 'video_generations') AS calls
    FROM video_jobs j WHERE j.status = 'succeeded'`.execute(database.db);
  return rows;
}

async function submit(i: number): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS * 4; Date.now() < end; await Bun.sleep(200)) {
    const gateway = gateways[i % 2]?.process as GatewayProcess;
    try {
      const response = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/video/generations`, {
        method: "POST",
        headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ model: "film-1", prompt: `film ${i}`, duration_seconds: 8, chat_id: "films" }),
      });
      await response.text();
      if (response.status === 200) return;
      // A submission with an unknown outcome is not retried here either: it may be in progress.
      if (response.status >= 500 && response.status !== 503) return;
    } catch (error) {
      // If the connection was refused, nothing was submitted. Otherwise the process died during the call, and the outcome is unknown.
      if ((error as { code?: string }).code !== "ConnectionRefused") return;
    }
  }
}

async function until<T>(look: () => Promise<T>, holds: (found: T) => boolean, patience = PATIENCE_MS * 4): Promise<T> {
  for (const end = Date.now() + patience; ; await Bun.sleep(200)) {
    const found = await look();
    if (holds(found) || Date.now() > end) return found;
  }
}

const counts = async () =>
  (
    await sql<{ jobs: number; open: number; succeeded: number; unknown: number }>`
      SELECT count(*)::int AS jobs, count(*) FILTER (WHERE settled_at IS NULL)::int AS open, count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
        count(*) FILTER (WHERE error->>'code' = 'submit_unknown')::int AS unknown FROM video_jobs`.execute(database.db)
  ).rows[0] as { jobs: number; open: number; succeeded: number; unknown: number };

test("each job has one file, one settlement and one row, whichever process is killed when", async () => {
  let sent = 0;
  const sending = Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while ((await counts()).jobs < JOBS) await submit(sent++);
    }),
  );
  for (let kill = 0; kill < KILLS; kill++) {
    await until(
      async () => vendor.jobs.size,
      (begun) => begun >= ((kill + 1) * JOBS) / (KILLS + 1),
    );
    const victim = gateways[kill % 2] as (typeof gateways)[number];
    await victim.process.kill();
    victim.process = await start(victim.dataDir);
  }
  await sending;
  const { jobs, open, succeeded, unknown } = await until(counts, ({ open: left }) => left === 0);
  expect(open).toBe(0);
  expect(succeeded + unknown).toBe(jobs);
  expect(succeeded).toBeGreaterThan(JOBS / 2);

  // No job was submitted twice: the provider made only what was accepted or has an unknown outcome.
  expect(vendor.jobs.size).toBeLessThanOrEqual(jobs);
  // The last rows may still be on their way to the database.
  const rows = await until(succeededJobs, (found) => found.every(({ files, ends, calls }) => files === 1 && ends === 1 && calls === 1));
  expect(rows.filter(({ files, ends, calls }) => files !== 1 || ends !== 1 || calls !== 1)).toEqual([]);
  expect(rows.filter(({ cost }) => Math.abs(cost - 0.8) > 1e-9)).toEqual([]);
  expect(new Set(rows.map(({ upstream_id: upstream }) => upstream)).size).toBe(rows.length);
  const { rows: stored } = await sql<{ files: number; money: number }>`
    SELECT (SELECT count(*)::int FROM files WHERE chat_id = 'films') AS files,
      (SELECT sum(cost_micro_usd)::float8 / 1000000 FROM usage_daily WHERE llm_model_used = 'film-1') AS money`.execute(database.db);
  // The usage totals behind budgets agree, and no file lacks its job.
  expect(stored[0]?.files).toBe(succeeded);
  expect(stored[0]?.money).toBeCloseTo(succeeded * 0.8, 6);
});
