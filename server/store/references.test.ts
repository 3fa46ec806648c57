import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../tests/support/database.ts";

test("every foreign key to a deletable record is covered by an index", async () => {
  const database = await testDatabase();
  // A tenant is deleted only once it has no people, groups, models and keys; its few other tables are scanned once for that.
  const { rows } = await sql<{ reference: string }>`
    SELECT c.conrelid::regclass || '.' || a.attname AS reference
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[cardinality(c.conkey)]
    WHERE c.contype = 'f' AND c.confrelid <> 'tenants'::regclass
      AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND (i.indkey::smallint[])[0:cardinality(c.conkey) - 1] @> c.conkey)
    ORDER BY 1`.execute(database.db);
  expect(rows.map(({ reference }) => reference)).toEqual([]);
  await database.close();
});
