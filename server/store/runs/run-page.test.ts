import { afterAll, beforeAll, expect, test } from "bun:test";
import { RUN_OUTCOMES, RUN_STATES } from "@gatehouse/contracts/runs";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import type { RunFilters } from "./run-page-conditions.ts";
import { readRunPage } from "./run-page.ts";

let database: TestDatabase;

/** Run `i` started `i` minutes after the beginning of 2026; 1,200 of group g of tenant t, and one of others. */
beforeAll(async () => {
  database = await testDatabase();
  await sql`
    INSERT INTO runs (tenant_id, root_task_id, resource_group_id, state, outcome, started_at, active_at)
    SELECT 't', 'run-' || i, 'g', CASE WHEN i % 400 = 7 THEN 'exhausted' WHEN i % 10 = 3 THEN 'errored' WHEN i > 1195 THEN 'open' ELSE 'completed' END, CASE WHEN i % 300 = 7 THEN 'escalated' WHEN i < 1100 THEN 'resolved' END,
      '2026-01-01Z'::timestamptz + i * interval '1 minute', '2026-01-01Z'::timestamptz + i * interval '1 minute'
    FROM generate_series(0, 1199) i
    UNION ALL SELECT o.tenant, 'other', o.group, 'exhausted', 'escalated', '2026-01-01Z', '2026-01-01Z' FROM (VALUES ('t', 'h'), ('u', 'g')) o (tenant, "group")`.execute(
    database.db,
  );
});
afterAll(() => database.close());

const first = async (filters: RunFilters, limit = 50, offset = 0) => {
  const { items, total, exact } = await readRunPage(database.db, "t", "g", filters, { limit, offset });
  return { numbers: items.map((run) => Number(run.root_task_id.slice("run-".length))), total, exact };
};

test("runs are listed newest first, and more than 1,000 are counted by hour", async () => {
  expect(await first({}, 3)).toEqual({ numbers: [1199, 1198, 1197], total: 1200, exact: false });
  expect(await first({}, 2, 1198)).toEqual({ numbers: [1, 0], total: 1200, exact: false });
  expect(await first({ outcome: "resolved" }, 1)).toEqual({ numbers: [1099], total: 1096, exact: false });
  expect(await first({ from: "2026-01-01T01:00:00Z" }, 1)).toEqual({ numbers: [1199], total: 1140, exact: false });
});

test("filters by state and outcome give the matching runs and their count", async () => {
  const { rows: runs } = await sql<{
    n: number;
    state: string;
    outcome: string | null;
  }>`SELECT substr(root_task_id, 5)::bigint AS n, state, outcome FROM runs WHERE tenant_id = 't' AND resource_group_id = 'g' ORDER BY started_at DESC`.execute(
    database.db,
  );
  for (const state of [undefined, ...RUN_STATES]) {
    for (const outcome of [undefined, ...RUN_OUTCOMES]) {
      const wanted = runs
        .filter((run) => (state === undefined || run.state === state) && (outcome === undefined || run.outcome === outcome))
        .map((run) => run.n);
      const found = await first({ state, outcome });
      expect(found.numbers).toEqual(wanted.slice(0, 50));
      expect(found.exact).toBe(wanted.length <= 1000);
      expect(found.total).toBe(wanted.length);
    }
  }
});

test("a time range counts exactly the runs within it", async () => {
  expect(await first({ from: "2026-01-01T00:10:30Z", to: "2026-01-01T00:13:00Z" })).toEqual({ numbers: [12, 11], total: 2, exact: true });
});
