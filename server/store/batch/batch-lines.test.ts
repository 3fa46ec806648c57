import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { batchJobRecord } from "../../../tests/support/records/batch-job-record.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { returnUndelivered, takeSubmission } from "./batch-departures.ts";
import { addLines, bodiesAfter, endInterrupted, firstLinesOf, keepAlive, linesAfter, pageOfLines, releaseClaims } from "./batch-lines.ts";

const MIB = 1024 * 1024;
const [ANSWERED, WITH_A_PROCESS, FAILED, TO_BE_GIVEN] = [2, 1, 3, 5];
let database: TestDatabase;
const jobs: Record<string, { id: string; tenant_id: string }> = {};

beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  for (const tenant of ["a", "b", "c", "d"]) {
    await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, '{}')`.execute(db);
    const group = crypto.randomUUID();
    await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${group}, ${tenant}, 'g', 'team')`.execute(db);
    jobs[tenant] = { id: await batchJobRecord(db, tenant, group), tenant_id: tenant };
  }
});
afterAll(() => database.close());

const jobOf = (tenant: string) => jobs[tenant] as { id: string; tenant_id: string };

test("results are read up to the byte limit at a time, and at least one", async () => {
  const { db } = database;
  const job = jobOf("a");
  const sizes = [1, 5 * MIB, 3 * MIB, 20 * MIB, 20 * MIB, 1, 1];
  await addLines(
    db,
    job,
    sizes.map((_, i) => ({ line: i + 1, customId: `${i}`, body: "{}" })),
  );
  for (const [i, size] of sizes.entries())
    await sql`UPDATE batch_lines SET state = ${ANSWERED}, result = repeat('x', ${size}::int) WHERE job_id = ${job.id} AND line = ${i + 1}`.execute(
      db,
    );
  await sql`UPDATE batch_lines SET state = 3, result = NULL WHERE job_id = ${job.id} AND line = 1`.execute(db);
  const read = async (most: number, states: readonly number[]) => {
    const lines: number[][] = [];
    for (let after = 0; ;) {
      const found = await linesAfter(db, job, after, most, states);
      const last = found.at(-1);
      if (last === undefined) return lines;
      expect(found.map(({ result }) => result?.length ?? null)).toEqual(
        found.map(({ line }) => (line === 1 ? null : (sizes[line - 1] ?? 0))),
      );
      lines.push(found.map(({ line }) => line));
      after = last.line;
    }
  };
  expect(await read(50, [ANSWERED, 3])).toEqual([[1, 2, 3], [4], [5], [6, 7]]);
  expect(await read(1, [ANSWERED])).toEqual([[2], [3], [4], [5], [6], [7]]);
  const { lines, total } = await pageOfLines(db, job, { limit: 4, offset: 1 }, true);
  expect([lines, total]).toEqual([[2, 3, 4, 5], sizes.length]);
  expect((await firstLinesOf(db, job, lines)).map(({ line }) => line)).toEqual([2, 3]);
  expect((await firstLinesOf(db, job, [4, 5])).map(({ line }) => line)).toEqual([4]);
  expect(await linesAfter(db, { ...job, tenant_id: "b" }, 0, 50, [ANSWERED])).toEqual([]);
});

test("request bodies are read up to the byte limit at a time, and at least one", async () => {
  const { db } = database;
  const job = jobOf("c");
  const sizes = [3 * MIB, 5 * MIB, 1, 9 * MIB, 1];
  for (const [i, size] of sizes.entries()) await addLines(db, job, [{ line: i + 1, customId: `${i}`, body: "x".repeat(size) }]);
  const read = async (after: number) => (await bodiesAfter(db, job, after, 200)).map(({ line, body }) => [line, body.length]);
  expect([await read(0), await read(2), await read(3), await read(4)]).toEqual([
    [
      [1, 3 * MIB],
      [2, 5 * MIB],
    ],
    [[3, 1]],
    [[4, 9 * MIB]],
    [[5, 1]],
  ]);
  expect((await bodiesAfter(db, job, 0, 1)).map(({ line }) => line)).toEqual([1]);
});

test("lines taken by a process and not being served return to the queue", async () => {
  const { db } = database;
  const job = jobOf("b");
  const [mine, theirs] = [crypto.randomUUID(), crypto.randomUUID()];
  await addLines(
    db,
    job,
    [1, 2, 3].map((line) => ({ line, customId: `${line}`, body: "{}" })),
  );
  for (const [line, owner] of [mine, mine, theirs].entries())
    await sql`UPDATE batch_lines SET state = ${WITH_A_PROCESS}, owner = ${owner} WHERE job_id = ${job.id} AND line = ${line + 1}`.execute(
      db,
    );
  await returnUndelivered(db, mine, [`${job.id} 2`]);
  const { rows } = await sql<{ state: number }>`SELECT state FROM batch_lines WHERE job_id = ${job.id} ORDER BY line`.execute(db);
  expect(rows.map(({ state }) => state)).toEqual([TO_BE_GIVEN, WITH_A_PROCESS, WITH_A_PROCESS]);
});

test("batches of busy tenants are not taken", async () => {
  const { db } = database;
  for (const [i, tenant] of ["a", "a", "b"].entries())
    await sql`INSERT INTO batch_submissions (id, job_id, tenant_id, model_id, operation, lines, look_at)
      VALUES (${`s${i}`}, ${jobOf(tenant).id}, ${tenant}, 'm', 'chat', 1, now() - ${10 - i} * interval '1 second')`.execute(db);
  const owner = crypto.randomUUID();
  await sql`INSERT INTO batch_runners (id, alive_until) VALUES (${owner}, now() + interval '1 hour')`.execute(db);
  const take = async (...busy: string[]) => (await takeSubmission(db, owner, 900, busy))?.id;
  expect([await take(), await take("a"), await take("a"), await take("b"), await take()]).toEqual(["s0", "s2", undefined, "s1", undefined]);
});

test("a restarted process releases at once what it had claimed when it died, and nothing of live processes", async () => {
  const { db } = database;
  const job = jobOf("d");
  const [here, there] = [crypto.randomUUID().slice(0, 18), crypto.randomUUID().slice(0, 18)];
  const [died, restarted, other] = [here, here, there].map((half) => half + crypto.randomUUID().slice(18)) as [string, string, string];
  await addLines(
    db,
    job,
    [1, 2, 3].map((line) => ({ line, customId: `${line}`, body: "{}" })),
  );
  for (const [at, runner] of [died, other, restarted].entries()) {
    await keepAlive(db, runner, 3_600);
    await sql`UPDATE batch_lines SET state = ${WITH_A_PROCESS}, owner = ${runner} WHERE job_id = ${job.id} AND line = ${at + 1}`.execute(
      db,
    );
  }
  const takenUntil = async (by: string) => {
    await sql`UPDATE batch_jobs SET taken_by = ${by}, taken_until = now() + interval '1 hour' WHERE id = ${job.id}`.execute(db);
    await releaseClaims(db, [restarted]);
    return (await db.selectFrom("batch_jobs").select("taken_until").where("id", "=", job.id).executeTakeFirstOrThrow()).taken_until;
  };
  expect([await takenUntil(died), await takenUntil(other), await takenUntil(restarted)]).toEqual([
    null,
    expect.any(Date),
    expect.any(Date),
  ]);
  await endInterrupted(db, restarted, { code: "gateway_interrupted", message: "interrupted" });
  const { rows } = await sql<{ state: number }>`SELECT state FROM batch_lines WHERE job_id = ${job.id} ORDER BY line`.execute(db);
  expect(rows.map(({ state }) => state)).toEqual([FAILED, WITH_A_PROCESS, WITH_A_PROCESS]);
});
