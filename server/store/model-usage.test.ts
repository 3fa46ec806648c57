import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { toolResultsOfDay } from "./tool-usage.ts";
import { usageTotals } from "./usage-totals.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const idOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

test("what models used before it was kept by their ids is found, under the names they had", async () => {
  const { db } = database;
  const [kept, renamed, provider] = [1, 2, 3].map(idOf);
  const now = new Date();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO providers (id, tenant_id, provider_key, name, api_format, base_url) VALUES (${provider}, 't', 'p', 'p', 'openai', 'http://p')`.execute(db);
  for (const [id, name] of [[kept, "kept"], [renamed, "new name"]]) await sql`INSERT INTO models (id, tenant_id, name, model_name, provider_id, modes) VALUES (${id}, 't', ${name}, 'm', ${provider}, '{chat}')`.execute(db);
  await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id, before, after) VALUES ('entry', 't', 'update', 'models', ${renamed}, '{"name":"old name"}', '{"name":"new name"}')`.execute(db);
  await sql`ALTER TABLE usage_hourly ADD COLUMN tool_results bigint NOT NULL DEFAULT 0`.execute(db);
  for (const [name, requests] of [["kept", 1], ["old name", 2], ["new name", 3], ["gone", 4]] as const) {
    await sql`INSERT INTO usage_daily VALUES ('t', (${now}::timestamptz AT TIME ZONE 'UTC')::date, 'g', ${name}, ${requests}, 0, 10, 5, 7, 0)`.execute(db);
    await sql`INSERT INTO usage_hourly VALUES ('t', date_trunc('hour', ${now}::timestamptz, 'UTC'), 'g', '', ${name}, ${requests}, 0, 10, 5, 7, 0, ${requests})`.execute(db);
  }
  await sql`DROP TABLE former_model_names, model_usage_daily, tool_results_hourly`.execute(db);
  await sql.raw(await readFile(new URL("migrations/0086_model_usage.sql", import.meta.url), "utf8")).execute(db);

  const totals = await usageTotals(db, "t", now.toISOString().slice(0, 10));
  const told = totals.map(({ model_id, day_requests, day_tokens, day_micros }) => [model_id, day_requests, day_tokens, day_micros]);
  const expected = [[kept, 1, 15, 7], [renamed, 5, 30, 14], ["gone", 4, 15, 7], [null, 10, 60, 28]];
  const sorted = (list: unknown[][]) => list.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])));
  expect(sorted(told)).toEqual(sorted(expected));
  const results = await toolResultsOfDay(db, "t", now.getTime());
  expect(sorted(results.map(({ item, count }) => [item, count]))).toEqual(sorted(expected.map(([item, requests]) => [item as string, requests])));
});
