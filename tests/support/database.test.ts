import { afterAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "./database.ts";

const databases = await Promise.all([testDatabase(), testDatabase()]);
afterAll(() => Promise.all(databases.map((database) => database.close())));

test("each test database is migrated and separate from the others", async () => {
  const [one, other] = databases;
  await one!.db
    .insertInto("tenants")
    .values({ id: "acme", name: "acme", display_name: null, data_retention: "{}", default_judge_model_id: null })
    .execute();
  const count = async (db: typeof one) =>
    (await sql<{ n: number }>`SELECT count(*)::int AS n FROM tenants WHERE id = 'acme'`.execute(db!.db)).rows[0]?.n;
  expect(await count(one)).toBe(1);
  expect(await count(other)).toBe(0);
});
