import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { AgentTasks, type Delivery } from "../../directory/agents/tasks.ts";
import { PushDeliveries } from "./push-deliveries.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

/** Creates `tasks` tasks of a tenant, each with one delivery that has been due for `seconds`. */
async function leave(tenant: string, tasks: number, seconds: number): Promise<void> {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES (${tenant}, ${tenant}, '{}') ON CONFLICT DO NOTHING`.execute(db);
  await sql`INSERT INTO agents (id, tenant_id, card_name, name) VALUES (${`agent-${tenant}`}, ${tenant}, 'a', 'a') ON CONFLICT DO NOTHING`.execute(
    db,
  );
  await sql`INSERT INTO agent_tasks (tenant_id, agent_id, id, context_id, owner_kind, owner_id, resource_group_id, state, status_at, root_task_id, depth, protocol_version)
    SELECT ${tenant}, ${`agent-${tenant}`}, ${tenant} || n, 'c', 'user', 'u', gen_random_uuid(), 'TASK_STATE_WORKING', now(), 'r', 1, '1.0' FROM generate_series(1, ${tasks}::int) n`.execute(
    db,
  );
  await sql`INSERT INTO agent_push_configs (tenant_id, agent_id, task_id, id, url, protocol_version)
    SELECT tenant_id, agent_id, id, 'p', 'https://' || tenant_id || '.example/', '1.0' FROM agent_tasks WHERE tenant_id = ${tenant}`.execute(
    db,
  );
  await sql`INSERT INTO agent_push_deliveries (id, tenant_id, agent_id, task_id, config_id, body, due_at)
    SELECT 'd' || id, tenant_id, agent_id, id, 'p', '{}', now() - ${seconds}::int * interval '1 second' FROM agent_tasks WHERE tenant_id = ${tenant}`.execute(
    db,
  );
}

const MINUTE_MS = 60_000;
const taken = (found: readonly Delivery[], tenant: string) => found.filter(({ tenantId }) => tenantId === tenant).length;

test("a tenant whose push receivers never answer delays no other tenant, and its deliveries are retried later", async () => {
  await leave("flood", 300, 600);
  await leave("quiet", 2, 1);
  const secrets = { openOrNull: () => null } as unknown as ConstructorParameters<typeof AgentTasks>[1];
  const tasks = new AgentTasks(database.db, secrets);
  const underWay = new Map([["flood", 9]]);
  const first = await tasks.takeDeliveries(MINUTE_MS, { most: 3, mostOfOne: 10, underWay });
  expect([taken(first, "flood"), taken(first, "quiet")]).toEqual([1, 2]);
  expect(await tasks.takeDeliveries(MINUTE_MS, { most: 10, mostOfOne: 10, underWay: new Map([["flood", 10]]) })).toEqual([]);
  await sql`UPDATE agent_push_deliveries SET due_at = now() - interval '1 minute'`.execute(database.db);

  const asked = { flood: 0, quiet: 0 };
  const waiting: (() => void)[] = [];
  const deliveries = new PushDeliveries({
    tasks,
    snapshots: {
      tenant: async () => ({ agents: { keys: [{ kid: "k", key: generateKeyPairSync("ed25519").privateKey }] } }),
      scope: async () => ({}),
    },
    gates: { inspects: () => false },
    hasAccessNow: async () => true,
    send: async ({ url }: { url: string }) => {
      if (url.includes("quiet")) {
        asked.quiet++;
        return new Response(null, { status: 200 });
      }
      asked.flood++;
      await new Promise<void>((resolve) => waiting.push(resolve));
      return new Response(null, { status: 503 });
    },
    clock: { now: () => Date.now(), micros: () => Date.now() * 1000 },
    log: { warn: () => undefined, info: () => undefined, error: () => undefined },
  } as unknown as ConstructorParameters<typeof PushDeliveries>[0]);
  const delivering = deliveries.deliver();
  await until(
    async () => asked,
    ({ flood, quiet }) => flood === 10 && quiet === 2,
  );
  // Postpone the rest, so that the deliveries in progress can end.
  await sql`UPDATE agent_push_deliveries SET due_at = now() + interval '1 hour' WHERE attempts < 2`.execute(database.db);
  for (const answer of waiting) answer();
  await delivering;
  const { rows } = await sql<{
    tenant_id: string;
    n: string;
  }>`SELECT tenant_id, count(*) AS n FROM agent_push_deliveries GROUP BY 1`.execute(database.db);
  expect(rows.map(({ tenant_id, n }) => [tenant_id, Number(n)])).toEqual([["flood", 300]]);
});

test("a tenant with endless tasks leaves room for watching other tenants' tasks", async () => {
  await leave("endless", 30, 0);
  await leave("short", 2, 0);
  const tasks = new AgentTasks(database.db, {} as never);
  const count = (rows: readonly { readonly tenant_id: string }[], tenant: string) =>
    rows.filter(({ tenant_id }) => tenant_id === tenant).length;
  await sql`UPDATE agent_tasks SET watched_until = now() + interval '1 hour' WHERE tenant_id NOT IN ('endless', 'short')`.execute(
    database.db,
  );
  const first = await tasks.takeWatches(MINUTE_MS, { most: 5, mostOfOne: 10, underWay: new Map() }, []);
  expect([count(first, "endless"), count(first, "short")]).toEqual([3, 2]);
  const more = await tasks.takeWatches(MINUTE_MS, { most: 50, mostOfOne: 10, underWay: new Map([["endless", 3]]) }, []);
  expect(more.length).toBe(7);
});
