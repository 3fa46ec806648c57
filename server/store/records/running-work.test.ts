import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { resolveExpired } from "../policies/alerts.ts";
import { isRequestedByAccount } from "../approvals/approval-conflicts.ts";
import { approvalPage, resolvableApprovalIds } from "../approvals/approvals.ts";
import { expireApprovals } from "../approvals/approval-upkeep.ts";
import { forgetExpiredNotifications } from "../people/notifications.ts";
import { pruneOrphanTokens } from "../tools/oauth-tokens.ts";
import { endIdleRuns } from "../runs/run-sweep.ts";

let database: TestDatabase;
let statements: string[] = [];
beforeAll(async () => {
  database = await testDatabase({ onQuery: (text) => statements.push(text) });
});
afterAll(() => database.close());

/** The plan of the first statement that `work` runs; a time stands in for parameters that are not given. */
async function planOf(
  work: (db: TestDatabase["db"]) => Promise<unknown>,
  settings: string,
  standIns: readonly string[] = [],
): Promise<string> {
  statements = [];
  await work(database.db);
  const [statement = ""] = statements;
  const plan = await database.db.transaction().execute(async (trx) => {
    await sql`${sql.raw(settings)}`.execute(trx);
    return sql<{
      "QUERY PLAN": string;
    }>`EXPLAIN ${sql.raw(statement.replaceAll(/\$(\d+)/g, (_, place) => standIns[Number(place) - 1] ?? "now()"))}`.execute(trx);
  });
  return plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test.each([
  ["approvals", expireApprovals],
  ["alerts", resolveExpired],
  ["notifications", (db: TestDatabase["db"]) => forgetExpiredNotifications(db, new Date())],
])("expired %s are found by index, without reading those already processed", async (_name, work) => {
  const plan = await planOf(work, "SET LOCAL enable_seqscan = off");
  expect(plan).toMatch(/Index Cond: \(expires_at </);
  expect(plan).not.toContain("Seq Scan");
});

test("idle runs are found by the index of open runs, across all tenants at once", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) SELECT 'tenant ' || i, 't', '{}' FROM generate_series(1, 300) i`.execute(db);
  await sql`INSERT INTO runs (tenant_id, root_task_id, state, started_at, active_at) SELECT 'tenant ' || i % 300 + 1, 'run ' || i, CASE WHEN i % 500 = 0 THEN 'open' ELSE 'completed' END, now() - interval '1 day', now() FROM generate_series(1, 30000) i`.execute(
    db,
  );
  await sql`ANALYZE`.execute(db);
  const plan = await planOf((on) => endIdleRuns(on, new Date()), "SET LOCAL jit = off");
  expect(plan.match(/ on runs o .*/g)).toHaveLength(1);
  expect(plan).toMatch(/runs_open/);
  expect(plan).not.toMatch(/runs_pkey on runs o |runs_started/);
});

test("the approvals that a person may see are found by indexes on requester and groups", async () => {
  const { db } = database;
  const [person, group] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`INSERT INTO approvals (id, tenant_id, server_id, server_name, capability_type, capability_name, requester_type, requester_id, requester_display, requester_group_id, approver_group_ids, call_arguments, arguments_digest, status, timeout_seconds, expires_at)
    SELECT gen_random_uuid(), 'tenant 1', 's', 's', 'tool', 't', 'user', gen_random_uuid(), 'u', gen_random_uuid(), '{}', '{}', i, 'expired', 900, now() FROM generate_series(1, 20000) i`.execute(
    db,
  );
  await sql`ANALYZE approvals`.execute(db);
  const visibleTo = { requesterId: person, groupIds: [group] };
  const plan = await planOf(
    (on) => approvalPage(on, "tenant 1", { now: new Date(), visibleTo }, { limit: 50, offset: 0 }),
    "SET LOCAL jit = off",
    ["'tenant 1'", `'${person}'`, `'{${group}}'`, `'{${group}}'`, "0", "50", "0"],
  );
  for (const index of ["approvals_requester", "approvals_requester_group", "approvals_approvers"])
    expect(plan).toMatch(new RegExp(`Bitmap Index Scan on ${index} `));
  expect(plan).not.toContain("Seq Scan");
});

test("the approvals that a person may decide are found with one query that reads only IDs", async () => {
  statements = [];
  const viewer = { requesterId: crypto.randomUUID(), groupIds: [crypto.randomUUID()] };
  expect(await resolvableApprovalIds(database.db, "tenant 1", viewer, new Date())).toEqual([]);
  expect(statements).toEqual([expect.stringContaining('select "id" from "approvals"')]);
});

test("the creator of an API key is found by an index on the admin log", async () => {
  const { db } = database;
  await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id) SELECT 'entry ' || i, 'tenant 1', 'create', 'end-users', 'user ' || i FROM generate_series(1, 20000) i`.execute(
    db,
  );
  await sql`ANALYZE admin_log`.execute(db);
  const [tenant, id, account] = ["'tenant 1'", crypto.randomUUID(), crypto.randomUUID()];
  const plan = await planOf((on) => isRequestedByAccount(on, "tenant 1", [id], { plane: "portal", id: account }), "SET LOCAL jit = off", [
    tenant,
    `'{${id}}'`,
    tenant,
    tenant,
    "'portal'",
    tenant,
    `'{${account}}'`,
    "'portal'",
    `'{${account}}'`,
  ]);
  expect(plan).toMatch(/admin_log_keys/);
  expect(plan).not.toContain("Seq Scan on admin_log");
});

test("orphaned tokens are found with one anti-join per kind of holder", async () => {
  statements = [];
  await pruneOrphanTokens(database.db);
  const texts = [...statements];
  expect(texts.length).toBe(2);
  for (const text of texts) {
    const plan = await sql<{ "QUERY PLAN": string }>`EXPLAIN ${sql.raw(text)}`.execute(database.db);
    const lines = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(lines).toContain("Anti Join");
    expect(lines).not.toContain("SubPlan");
  }
});
