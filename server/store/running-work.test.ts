import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { resolveExpired } from "./alerts.ts";
import { expireApprovals } from "./approvals.ts";
import { forgetExpiredNotifications } from "./notifications.ts";

let database: TestDatabase;
let statements: string[] = [];
beforeAll(async () => {
  database = await testDatabase({ onQuery: (text) => statements.push(text) });
});
afterAll(() => database.close());

test.each([
  ["approvals", expireApprovals],
  ["alerts", resolveExpired],
  ["notifications", forgetExpiredNotifications],
])("%s that are over are found without reading those that have long been over", async (_name, work) => {
  statements = [];
  await work(database.db);
  const [statement] = statements;
  const plan = await database.db.transaction().execute(async (trx) => {
    await sql`SET LOCAL enable_seqscan = off`.execute(trx);
    return sql<{ "QUERY PLAN": string }>`EXPLAIN ${sql.raw(statement ?? "")}`.execute(trx);
  });
  const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(text).toMatch(/Index Cond: \(expires_at </);
  expect(text).not.toContain("Seq Scan");
});
