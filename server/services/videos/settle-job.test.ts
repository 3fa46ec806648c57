import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { type VideoJob, VideoStore } from "../../directory/videos/video-store.ts";
import { ulid } from "../../kernel/ids.ts";
import { VideoRunner, type VideoRunnerParts } from "./video-runner.ts";

let database: TestDatabase;
let store: VideoStore;
beforeAll(async () => {
  database = await testDatabase();
  store = new VideoStore(database.db);
});
afterAll(() => database.close());

type RecordEvent = VideoRunnerParts["calls"]["recordEvent"];

/** A process whose journal takes no row that it is to seal, as long as `journal.takes` is false. */
function processWith(journal: { takes: boolean; accepts: boolean }) {
  const written: string[] = [];
  const settled: number[] = [];
  const recordEvent: RecordEvent = async ({ claim }) => {
    const id = ulid();
    if (!((await claim?.(id)) ?? true)) return false;
    written.push(id);
    return journal.takes;
  };
  const runner = new VideoRunner({
    ...{ store, providers: {}, chain: crypto.randomUUID(), now: Date.now, random: () => 0.5, recording: () => journal.accepts },
    ...{ models: { find: async () => null }, tenant: () => null, scope: () => null, log: { warn: () => undefined } },
    budgets: { hold: async () => undefined, settle: async (_: string, micros: number) => void settled.push(micros) },
    calls: { recordEvent },
  } as unknown as VideoRunnerParts);
  return { runner, written, settled };
}

async function endedJob(id: string, owner: string): Promise<() => Promise<VideoJob>> {
  const { db } = database;
  const group = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${id}, ${id}, '{}')`.execute(db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${group}, ${id}, 'g')`.execute(db);
  await sql`INSERT INTO video_jobs (id, tenant_id, resource_group_id, status, model_id, model, provider_key, upstream_id, prices, held_micro_usd, owner, look_at,
      request_id, client_ip, created_at, updated_at, ended_at, expires_at, cost_micro_usd)
    VALUES (${id}, ${id}, ${group}, 'succeeded', 'm', 'm', 'p', 'up', '{}', 800000, ${owner}, now(),
      ${ulid()}, '127.0.0.1', now(), now(), now(), now() + interval '1 day', 700000)`.execute(db);
  return async () => (await sql<VideoJob>`SELECT * FROM video_jobs WHERE id = ${id}`.execute(db)).rows[0] as VideoJob;
}

const dueNow = (id: string) => sql`UPDATE video_jobs SET look_at = now() - interval '1 second' WHERE id = ${id}`.execute(database.db);

async function rowAppears(tenant: string, id: string, errorType: string | null): Promise<void> {
  await sql`INSERT INTO audit_rows (id, tenant_id, timestamp, proxy_type, proxy_subtype, http_status_code, success, chain_id, chain_seq, error_type)
    VALUES (${id}, ${tenant}, now(), 'llm', 'video_end', 200, true, ${tenant}, 1, ${errorType})`.execute(database.db);
}

test.each([
  ["a row that was stored after all settles the job", null, 1],
  ["a row that turns out interrupted is written anew", "gateway_interrupted", 2],
])("when a job's row could not be sealed, %s, by whichever process has the job", async (_name, found, rows) => {
  const tenant = `sealed-${rows}`;
  const journal = { takes: false, accepts: true };
  const [first, other] = [processWith(journal), processWith({ takes: true, accepts: true })];
  const job = await endedJob(tenant, first.runner.id);
  await first.runner.poll();
  await until(
    () => first.written.length,
    (count) => count === 1,
  );
  // Nobody knows yet whether the row is stored: not even the process that wrote it writes another one.
  const looks = (await job()).looks;
  await until(
    async () => (await dueNow(tenant), await first.runner.poll(), await job()),
    (row) => row.looks > looks + 1,
  );
  expect([first.written.length, (await job()).settlement_id]).toEqual([1, first.written[0] ?? ""]);

  await first.runner.stop();
  await rowAppears(tenant, first.written[0] ?? "", found);
  await until(
    async () => (await dueNow(tenant), await other.runner.poll(), await job()),
    ({ settled_at: settledAt }) => settledAt !== null,
  );
  expect(first.written.length + other.written.length).toBe(rows);
  await until(
    () => other.settled,
    (settled) => settled.length === 1,
  );
  expect([first.settled, other.settled]).toEqual([[], [700_000]]);
  await other.runner.stop();
});

test("a process that can write no audit row leaves its jobs to one that can", async () => {
  const [failed, other] = [processWith({ takes: false, accepts: false }), processWith({ takes: true, accepts: true })];
  const job = await endedJob("left", failed.runner.id);
  await failed.runner.hold(await job());
  await failed.runner.poll();
  await other.runner.poll();
  await until(
    async () => (await other.runner.poll(), await job()),
    ({ settled_at: settledAt }) => settledAt !== null,
  );
  expect([failed.written.length, other.written.length]).toEqual([0, 1]);
  // What it held for the job is held by the other one.
  await until(
    async () => (await failed.runner.poll(), [failed.settled, other.settled]),
    (settled) => settled.every(({ length }) => length === 1),
  );
  expect([failed.settled, other.settled]).toEqual([[0], [700_000]]);
  await other.runner.stop();
});
