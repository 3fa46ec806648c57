import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { batchJobRecord } from "../../../tests/support/records/batch-job-record.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { keepEndings, takeEnding } from "./batch-jobs.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

test("a process keeps its lease on finishing a job as long as it renews it", async () => {
  const { db } = database;
  const group = crypto.randomUUID();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name, group_type) VALUES (${group}, 't', 'g', 'team')`.execute(db);
  const id = await batchJobRecord(db, "t", group);
  await sql`UPDATE batch_jobs SET status = 'finalizing' WHERE id = ${id}`.execute(db);
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const take = async (owner: string, seconds: number) => (await takeEnding(db, owner, "c", seconds, 600))?.id;

  expect(await take(one, 0)).toBe(id);
  await keepEndings(db, one, [id], 3_600);
  expect([await take(other, 0), await take(one, 0)]).toEqual([undefined, undefined]);

  await keepEndings(db, one, [id], -1);
  expect(await take(other, -1)).toBe(id);
  await keepEndings(db, one, [id], 3_600);
  expect(await take(one, 0)).toBe(id);
});
