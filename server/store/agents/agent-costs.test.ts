import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { leaveTask } from "../../../tests/support/records/agent-task-rows.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { renewCostClaim, settleCostClaims } from "./agent-cost-claims.ts";
import { countTaskCost, takeDueCosts } from "./agent-costs.ts";

const TASK = { tenant_id: "default", agent_id: "agent", id: "t" };
let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('default', 'default', '{}') ON CONFLICT DO NOTHING`.execute(db);
  await leaveTask(db, "mary");
});
afterAll(() => database.close());

test("a call that counts costs and the settlement of interrupted calls neither block nor miscount each other", async () => {
  const { db } = database;
  let [own, told] = [0, 0];
  for (let round = 0; round < 30; round++) {
    // The row of the call that was interrupted is never going to be there.
    own += (await countTaskCost(db, TASK, (told += 1_000), own, "goes on")) as number;
    await countTaskCost(db, TASK, (told += 1_000), 0, `interrupted ${round}`);
    await sql`UPDATE agent_cost_claims SET look_at = now() - interval '1 second',
      claimed_at = CASE WHEN row_id = 'goes on' THEN now() ELSE now() - interval '2 days' END`.execute(db);
    const [more] = await Promise.all([countTaskCost(db, TASK, (told += 1_000), own, "goes on"), settleCostClaims(db, 200)]);
    own += more as number;
  }
  const [due] = await takeDueCosts(db, 10, 1_000);
  expect([own, due?.micros]).toEqual([60_000, 30_000]);
});

test("the part of a call that streams for days is not given to another row while its claim is renewed", async () => {
  const { db } = database;
  await sql`UPDATE agent_tasks SET counted_micros = 0, owed_micros = 0, told_micros = 0, cost_due_at = NULL`.execute(db);
  await sql`DELETE FROM agent_cost_claims`.execute(db);
  const aDayLater = () =>
    sql`UPDATE agent_cost_claims SET look_at = now() - interval '1 second', claimed_at = now() - interval '25 hours'`.execute(db);
  await countTaskCost(db, TASK, 5_000, 0, "streams");
  await aDayLater();
  await renewCostClaim(db, TASK, "streams");
  await settleCostClaims(db, 200);
  expect(await takeDueCosts(db, 10, 1_000)).toEqual([]);

  await aDayLater();
  await settleCostClaims(db, 200);
  expect((await takeDueCosts(db, 10, 1_000)).map(({ micros }) => micros)).toEqual([5_000]);
  await renewCostClaim(db, TASK, "streams");
  expect(await db.selectFrom("agent_cost_claims").selectAll().execute()).toEqual([]);
});
