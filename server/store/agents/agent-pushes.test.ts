import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { leaveTask } from "../../../tests/support/records/agent-task-rows.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { queuePushNotifications, type ReportedStatus } from "./agent-pushes.ts";

const MIB = 1024 * 1024;
const TASK = { tenant_id: "default", agent_id: "agent", id: "t" };
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('default', 'default', '{}') ON CONFLICT DO NOTHING`.execute(db);
  await leaveTask(db, "mary");
});
afterAll(() => database.close());

const tell = (whole: string, brief: string, status: ReportedStatus | null = null) =>
  queuePushNotifications(database.db, TASK, status, () => ({ whole, brief }));
const waiting = async () =>
  (await database.db.selectFrom("agent_push_deliveries").select("body").where("id", "<>", "d").orderBy("id").execute()).map(
    ({ body }) => body,
  );

test("beyond a size limit, push notifications of a task are stored in their brief form, also that of its end", async () => {
  for (let at = 0; at < 30; at++) await tell("x".repeat(MIB), `artifact ${at}`);
  await tell("y".repeat(2 * MIB), "the end", { digest: "d", isEnd: true });
  const bodies = await waiting();
  expect(bodies).toHaveLength(31);
  expect(bodies.join("").length).toBeLessThan(9 * MIB);
  expect(bodies.slice(-2)).toEqual(["artifact 29", "the end"]);
  await database.db.deleteFrom("agent_push_deliveries").execute();
  await tell("small", "brief");
  await tell("z".repeat(MIB + 1), "too large");
  expect(await waiting()).toEqual(["small", "too large"]);
});

test("a push notification is stored in its brief form if other tasks of the tenant use up the room", async () => {
  const { db } = database;
  await sql`INSERT INTO agent_tasks (tenant_id, agent_id, id, context_id, owner_kind, owner_id, resource_group_id, state, status_at, root_task_id, depth, protocol_version)
    SELECT 'default', 'agent', 'other ' || n, 'c', 'user', 'mary', gen_random_uuid(), 'TASK_STATE_WORKING', now(), 'r', 1, '1.0' FROM generate_series(1, 8) n`.execute(
    db,
  );
  await sql`INSERT INTO agent_push_configs (tenant_id, agent_id, task_id, id, url, protocol_version)
    SELECT 'default', 'agent', 'other ' || n, 'p', 'https://receiver', '1.0' FROM generate_series(1, 8) n`.execute(db);
  await sql`INSERT INTO agent_push_deliveries (id, tenant_id, agent_id, task_id, config_id, body)
    SELECT 'waits ' || n, 'default', 'agent', 'other ' || n, 'p', repeat('x', ${8 * MIB}::int) FROM generate_series(1, 8) n`.execute(db);
  await tell("said", "what happened");
  expect((await waiting()).filter((body) => body.length < MIB)).toContain("what happened");
});
