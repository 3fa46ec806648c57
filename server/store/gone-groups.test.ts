import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const idOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

test("of groups that were deleted before this was kept, the nearest above that is left is found, whichever between are gone", async () => {
  const { db } = database;
  const [top, above, between, below, alone] = [1, 2, 3, 4, 5].map(idOf);
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${top}, 't', 'top')`.execute(db);
  const deletions = [
    { id: below, parent: between },
    { id: between, parent: above },
    { id: above, parent: top },
    { id: alone, parent: null },
  ];
  for (const { id, parent } of deletions) {
    await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id, before) VALUES (${`entry ${id}`}, 't', 'delete', 'resource-groups', ${id}, ${JSON.stringify({ id, parent_group_id: parent })})`.execute(
      db,
    );
  }
  await sql`DROP TABLE gone_groups`.execute(db);
  await sql.raw(await readFile(new URL("migrations/0085_gone_groups.sql", import.meta.url), "utf8")).execute(db);
  const { rows } = await sql<{ group_id: string; heir_id: string }>`SELECT group_id, heir_id FROM gone_groups ORDER BY group_id`.execute(
    db,
  );
  expect(rows).toEqual([above, between, below].map((id) => ({ group_id: id as string, heir_id: top as string })));
});
