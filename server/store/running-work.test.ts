import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { resolveExpired } from "./alerts.ts";
import { expireApprovals } from "./approvals.ts";
import { forgetExpiredNotifications } from "./notifications.ts";
import { sweepRuns } from "./runs.ts";

let database: TestDatabase;
let statements: string[] = [];
beforeAll(async () => {
  database = await testDatabase({ onQuery: (text) => statements.push(text) });
});
afterAll(() => database.close());

/** The plan of the only statement that `work` makes; a moment stands in for its parameters. */
async function planOf(work: (db: TestDatabase["db"]) => Promise<unknown>, settings: string): Promise<string> {
  statements = [];
  await work(database.db);
  const [statement = ""] = statements;
  const plan = await database.db.transaction().execute(async (trx) => {
    await sql`${sql.raw(settings)}`.execute(trx);
    return sql<{ "QUERY PLAN": string }>`EXPLAIN ${sql.raw(statement.replaceAll(/\$\d+/g, "now()"))}`.execute(trx);
  });
  return plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test.each([
  ["approvals", expireApprovals],
  ["alerts", resolveExpired],
  ["notifications", forgetExpiredNotifications],
])("%s that are over are found without reading those that have long been over", async (_name, work) => {
  const plan = await planOf(work, "SET LOCAL enable_seqscan = off");
  expect(plan).toMatch(/Index Cond: \(expires_at </);
  expect(plan).not.toContain("Seq Scan");
});

test("runs their callers forgot are found among those that are open, not tenant by tenant among all", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) SELECT 'tenant ' || i, 't', '{}' FROM generate_series(1, 300) i`.execute(db);
  await sql`INSERT INTO runs (tenant_id, root_task_id, state, started_at, active_at) SELECT 'tenant ' || i % 300 + 1, 'run ' || i, CASE WHEN i % 500 = 0 THEN 'open' ELSE 'completed' END, now() - interval '1 day', now() FROM generate_series(1, 30000) i`.execute(db);
  await sql`ANALYZE`.execute(db);
  const plan = await planOf((on) => sweepRuns(on, new Date()), "SET LOCAL jit = off");
  expect(plan.match(/ on runs o .*/g)).toHaveLength(1);
  expect(plan).toMatch(/runs_open/);
  expect(plan).not.toMatch(/runs_pkey on runs o |runs_started/);
});
