import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { type VideoJob, VideoStore } from "../../directory/videos/video-store.ts";
import { VideoRunner, type VideoRunnerParts } from "./video-runner.ts";

let database: TestDatabase;
let store: VideoStore;
beforeAll(async () => {
  database = await testDatabase();
  store = new VideoStore(database.db);
});
afterAll(() => database.close());

/** A process that runs jobs, over a real database. */
function runnerOf(parts: Partial<VideoRunnerParts>): VideoRunner {
  return new VideoRunner({
    ...{ store, providers: {}, chain: crypto.randomUUID(), recording: () => true, now: Date.now, random: () => 0.5 },
    models: { find: async () => null },
    tenant: () => null,
    scope: () => null,
    log: { warn: () => undefined },
    ...parts,
  } as unknown as VideoRunnerParts);
}

/** Creates the given number of jobs of a tenant, owned by `owner`, each due for `seconds`. */
async function leave(tenant: string, owner: string, jobs: number, seconds: number): Promise<void> {
  const { db } = database;
  const group = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, '{}')`.execute(db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${group}, ${tenant}, 'g')`.execute(db);
  await sql`INSERT INTO video_jobs (id, tenant_id, resource_group_id, status, model_id, model, provider_key, upstream_id, prices, held_micro_usd, owner, look_at,
      request_id, client_ip, created_at, updated_at, expires_at)
    SELECT ${tenant} || n, ${tenant}, ${group}, 'queued', 'm', 'm', 'p', 'up' || n, '{}', 800000, ${owner}, now() - ${seconds}::int * interval '1 second',
      'call-' || ${tenant} || n, '127.0.0.1', now(), now(), now() + interval '1 day' FROM generate_series(1, ${jobs}::int) n`.execute(db);
}

test("a tenant whose provider never answers does not delay other tenants' jobs", async () => {
  const begun = new Map<string, number>();
  const stuck: (() => void)[] = [];
  const runner = runnerOf({
    models: {
      async find(id) {
        begun.set(id, (begun.get(id) ?? 0) + 1);
        if (id === "flood") await new Promise<void>((resolve) => stuck.push(resolve));
        return null;
      },
    },
  });
  await leave("flood", runner.id, 30, 600);
  await leave("quiet", runner.id, 2, 1);
  await runner.poll();
  expect(Object.fromEntries(begun)).toEqual({ flood: 12, quiet: 2 });
  // Jobs under way count among their tenant's jobs the next time.
  await runner.poll();
  expect(begun.get("flood")).toBe(12);
  await sql`UPDATE video_jobs SET look_at = now() + interval '1 hour'`.execute(database.db);
  for (const answer of stuck) answer();
  await runner.stop();
  await sql`DELETE FROM video_jobs`.execute(database.db);
});

test("a job's hold exists once, at the process that runs the job", async () => {
  const holds = new Set<string>();
  /** Including those that were released. */
  const ever = new Set<string>();
  const parts = {
    scope: () => ({}),
    models: { find: async () => ({ provider: {} }) },
    budgets: { hold: async (id: string) => void (holds.add(id), ever.add(id)), settle: async (id: string) => holds.delete(id) },
  } as unknown as Partial<VideoRunnerParts>;
  const [away, other] = [runnerOf(parts), runnerOf(parts)];
  const jobs = async () => (await sql<VideoJob>`SELECT * FROM video_jobs ORDER BY id`.execute(database.db)).rows;
  /** Keeps processes alive however long the test takes. */
  const stayAlive = () => sql`UPDATE video_runners SET alive_until = now() + interval '1 day'`.execute(database.db);
  await leave("held", away.id, 2, 1);
  // The second is still being submitted when its process is considered dead.
  await sql`UPDATE video_jobs SET upstream_id = NULL, look_at = now() + interval '1 hour' WHERE id = 'held2'`.execute(database.db);
  away.submitting.add("held2");
  const [first] = await jobs();
  await away.hold(first as VideoJob);
  await other.poll();
  await stayAlive();
  expect([...ever].sort()).toEqual([`call-held1/video/${away.id}`, ...["1", "2"].map((n) => `call-held${n}/video/${other.id}`)].sort());
  await until(jobs, ([, second]) => second?.settled_at != null);
  await away.poll();
  await until(
    () => [...holds],
    (held) => held.length === 1,
  );
  expect([...holds]).toEqual([`call-held1/video/${other.id}`]);

  await store.noteAccepted(away.id, "held2", "up2", 3_600_000);
  await away.hold((await jobs())[1] as VideoJob);
  away.submitting.delete("held2");
  await away.poll();
  await stayAlive();
  await other.poll();
  expect([...holds].sort()).toEqual([`call-held1/video/${other.id}`, `call-held2/video/${away.id}`].sort());
});

test("a job whose model was deleted fails soon with that reason", async () => {
  const recorded: object[] = [];
  const calls = { recordEvent: async (_: object, __: object, outcome: object) => (recorded.push(outcome), true) };
  const runner = runnerOf({ budgets: { settle: async () => undefined }, calls } as unknown as Partial<VideoRunnerParts>);
  await leave("deleted", runner.id, 1, 1);
  // Four polls found no model.
  await sql`UPDATE video_jobs SET failures = 4 WHERE id = 'deleted1'`.execute(database.db);
  const job = async () => (await sql<VideoJob>`SELECT * FROM video_jobs WHERE id = 'deleted1'`.execute(database.db)).rows[0] as VideoJob;
  const polled = async () => {
    await sql`UPDATE video_jobs SET look_at = now() - interval '1 second' WHERE id = 'deleted1'`.execute(database.db);
    await runner.poll();
    return job();
  };
  const { status, error } = await until(polled, ({ ended_at: endedAt }) => endedAt !== null);
  expect([status, error?.code]).toEqual(["failed", "model_not_found"]);
  await until(polled, ({ settled_at: settledAt }) => settledAt !== null);
  await runner.stop();
});

test("a process that cannot write audit rows keeps the jobs that it is submitting, and no others", async () => {
  const away = runnerOf({ recording: () => false });
  const other = runnerOf({ budgets: { settle: async () => undefined } } as unknown as Partial<VideoRunnerParts>);
  await leave("submitted", away.id, 1, 1);
  await sql`UPDATE video_jobs SET upstream_id = NULL WHERE id = 'submitted1'`.execute(database.db);
  const owner = async () =>
    (await sql<VideoJob>`SELECT * FROM video_jobs WHERE id = 'submitted1'`.execute(database.db)).rows.map((job) => job.owner);
  away.submitting.add("submitted1");
  await away.poll();
  await other.takeOver();
  expect(await owner()).toEqual([away.id]);

  away.submitting.delete("submitted1");
  await sql`UPDATE video_runners SET alive_until = now() WHERE id = ${away.id}`.execute(database.db);
  await away.poll();
  await other.takeOver();
  expect(await owner()).toEqual([other.id]);
});
