import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { until } from "../../../tests/support/until.ts";
import { refreshCards } from "./card-refresh.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('a', 'a', '{}'), ('b', 'b', '{}'), ('c', 'c', '{}')`.execute(db);
  const add = (tenantId: string, most: number) =>
    sql`INSERT INTO agents (id, tenant_id, card_name, name, base_url, is_healthy) SELECT ${tenantId}::text || n, ${tenantId}, 'x' || n, 'x', 'https://agent.test', true FROM generate_series(1, ${most}::int) n`.execute(
      db,
    );
  for (const [tenantId, most] of [
    ["b", 20],
    ["c", 12],
    ["a", 1],
  ] as const)
    await add(tenantId, most);
});
afterAll(() => database.close());

test("agents of one tenant that never answer or have invalid cards do not delay other tenants' agents", async () => {
  const { db } = database;
  const over = Promise.withResolvers<never>();
  const seen: string[] = [];
  const failed: unknown[] = [];
  const directory = { db, clock: { now: () => 1_000_000_000 }, secrets: { openOrNull: () => null } };
  const discover = async ({ id }: { id: string }) => {
    seen.push(id);
    if (id.startsWith("b")) return over.promise;
    if (id.startsWith("c")) throw new Error("no card to take");
    return { status: "inconclusive", detail: "", signature: null };
  };
  const log = { warn: (_event: string, { agent_id }: { agent_id: string }) => failed.push(agent_id) };
  const run = refreshCards(directory as never, discover as never, log as never, new AbortController().signal);
  await until(
    () => ({ others: seen.filter((id) => !id.startsWith("b")).length, ofB: seen.filter((id) => id.startsWith("b")).length }),
    ({ others, ofB }) => others === 13 && ofB >= 2,
  );
  expect(seen.filter((id) => id.startsWith("b"))).toHaveLength(2);
  const { health_checked_at } = await db.selectFrom("agents").select("health_checked_at").where("id", "=", "a1").executeTakeFirstOrThrow();
  expect(health_checked_at?.getTime()).toBe(1_000_000_000);
  over.reject(new Error("gone"));
  await run;
  expect([seen.length, new Set(seen).size, failed.length]).toEqual([33, 33, 32]);
  const { healthy } = await db
    .selectFrom("agents")
    .where("is_healthy", "is not", false)
    .select((eb) => eb.fn.countAll<number>().as("healthy"))
    .executeTakeFirstOrThrow();
  expect(healthy).toBe(0);
});

test("stopping waits for no agent, and starts no refresh", async () => {
  const { db } = database;
  const seen: string[] = [];
  const logged: string[] = [];
  const directory = { db, clock: { now: () => 2_000_000_000 }, secrets: { openOrNull: () => null } };
  const stopping = new AbortController();
  const discover = ({ id }: { id: string }) => {
    seen.push(id);
    return new Promise<never>(() => undefined);
  };
  const run = refreshCards(
    directory as never,
    discover as never,
    { warn: (event: string) => logged.push(event) } as never,
    stopping.signal,
  );
  await until(
    () => seen.length,
    (count) => count === 5,
  );
  stopping.abort();
  await run;
  await refreshCards(directory as never, discover as never, { warn: (event: string) => logged.push(event) } as never, stopping.signal);
  expect([seen.length, logged]).toEqual([5, []]);
});

test("due agents are fetched from the database in batches, even if all belong to one tenant", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('d', 'd', '{}')`.execute(db);
  await sql`INSERT INTO agents (id, tenant_id, card_name, name, base_url)
    SELECT 'd' || n, 'd', 'x' || n, 'x', 'https://agent.test' FROM generate_series(1, 50) n`.execute(db);
  let queries = 0;
  const counted = db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === "RawNode" && node.sqlFragments.join().includes("SKIP LOCKED")) queries++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const seen = new Set<string>();
  const directory = { db: counted, clock: { now: () => 3_000_000_000 }, secrets: { openOrNull: () => null } };
  const discover = async ({ id }: { id: string }) => {
    seen.add(id);
    return { status: "inconclusive", detail: "", signature: null };
  };
  const log = { warn: (event: string, details: object) => expect([event, details]).toEqual([]) };
  await refreshCards(directory as never, discover as never, log as never, new AbortController().signal);
  expect(seen.size).toBe(83);
  expect(queries).toBeGreaterThan(0);
  expect(queries).toBeLessThan(25);
});
