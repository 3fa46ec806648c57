import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { toolResultsOfDay, toolUsageOfDay } from "../tools/tool-usage.ts";
import { FEW_GROUPS, type UsageQuery, usageTotals } from "./usage-totals.ts";

let database: TestDatabase;
const statements: string[] = [];
beforeAll(async () => {
  database = await testDatabase({ onQuery: (text) => statements.push(text) });
});
afterAll(() => database.close());

const [lives, heir, gone, other] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [string, string, string, string];
const DAY = "2026-11-21";
const others = Array.from({ length: FEW_GROUPS }, () => crypto.randomUUID());

test("totals are equal for few groups and for all, include usage of deleted groups, and read only what is asked", async () => {
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('t', 't', '{}')`.execute(db);
  await sql`INSERT INTO resource_groups (id, tenant_id, name) SELECT id::uuid, 't', id FROM unnest(${[lives, heir, other]}::text[]) id`.execute(
    db,
  );
  await sql`INSERT INTO gone_groups (tenant_id, group_id, heir_id) VALUES ('t', ${gone}, ${heir})`.execute(db);
  for (const [day, group, requests] of [
    ["2026-10-31", lives, 1_000],
    ["2026-11-01", lives, 1],
    ["2026-11-21", lives, 2],
    ["2026-11-21", heir, 4],
    ["2026-11-02", gone, 8],
    ["2026-11-21", gone, 16],
    ["2026-11-21", other, 100],
    ["2026-12-01", lives, 1_000],
  ] as const) {
    await sql`INSERT INTO usage_daily VALUES ('t', ${day}::date, ${group}, 'a', ${requests}, 0, ${requests * 10}, 0, ${requests * 3}, 0)`.execute(
      db,
    );
    await sql`INSERT INTO model_usage_daily VALUES ('t', ${day}::date, ${group}, 'model', ${requests}, ${requests * 10}, ${requests * 3}), ('t', ${day}::date, ${group}, 'another', ${requests}, 0, 0)`.execute(
      db,
    );
  }
  const told = async (asked: Partial<UsageQuery>) => {
    const rows = await usageTotals(db, "t", { day: DAY, month: true, modelIds: [], groupIds: null, ...asked });
    return rows
      .filter(({ resource_group_id: id }) => id !== other)
      .map((row) => [row.resource_group_id, row.model_id, row.month_requests, row.month_tokens, row.month_micros, row.day_requests])
      .toSorted((a, b) => String(a).localeCompare(String(b)));
  };
  const sorted = (rows: (string | number | null)[][]) => rows.toSorted((a, b) => String(a).localeCompare(String(b)));
  const ofAll = sorted([
    [lives, null, 3, 30, 9, 2],
    [heir, null, 28, 280, 84, 20],
  ]);
  const ofModel = [
    [lives, "model", 3, 30, 9, 2],
    [heir, "model", 28, 280, 84, 20],
  ];
  for (const groupIds of [null, [lives, heir], [lives, heir, ...others]]) {
    expect(await told({ groupIds })).toEqual(ofAll);
    expect(await told({ groupIds, modelIds: ["model"] })).toEqual(sorted([...ofAll, ...ofModel]));
    expect(await told({ groupIds, month: false })).toEqual(
      sorted([
        [lives, null, 2, 20, 6, 2],
        [heir, null, 20, 200, 60, 20],
      ]),
    );
  }
  // Months differ in length.
  for (const day of ["2028-02-01", "2028-02-29", "2028-03-01"])
    await sql`INSERT INTO usage_daily VALUES ('t', ${day}::date, ${lives}, 'a', 1, 0, 1, 0, 1, 0)`.execute(db);
  for (const groupIds of [null, [lives]]) {
    expect(
      (await usageTotals(db, "t", { day: "2028-02-29", month: true, modelIds: [], groupIds })).map((row) => [
        row.month_requests,
        row.day_requests,
      ]),
    ).toEqual([[2, 1]]);
    expect(
      (await usageTotals(db, "t", { day: "2028-03-01", month: true, modelIds: [], groupIds })).map((row) => [
        row.month_requests,
        row.day_requests,
      ]),
    ).toEqual([[1, 1]]);
  }
  const few = await usageTotals(db, "t", { day: DAY, month: true, modelIds: [], groupIds: [lives] });
  expect(few.map(({ resource_group_id: id }) => id)).toEqual([lives]);
  expect(statements.filter((text) => text.includes("model_usage_daily") && text.includes("generate_series")).length).toBe(1);
});

test("tool calls of the current hour are counted separately from earlier ones of the day", async () => {
  const { db } = database;
  const at = Date.parse("2026-11-21T12:30:00Z");
  for (const [hour, calls] of [
    ["2026-11-20T23:00Z", 1_000],
    ["2026-11-21T00:00Z", 1],
    ["2026-11-21T11:00Z", 2],
    ["2026-11-21T12:00Z", 4],
    ["2026-11-21T13:00Z", 8],
    ["2026-11-22T00:00Z", 1_000],
  ] as const) {
    await sql`INSERT INTO tool_usage_hourly VALUES ('t', ${hour}::timestamptz, ${lives}, 'server', ${calls})`.execute(db);
    await sql`INSERT INTO tool_results_hourly VALUES ('t', ${hour}::timestamptz, ${gone}, 'model', ${calls}), ('t', ${hour}::timestamptz, ${gone}, '', ${calls})`.execute(
      db,
    );
  }
  const counted = (rows: { resource_group_id: string; item: string | null; hour: number; count: number }[], since: string) => {
    const sums = new Map<string, number>();
    for (const { resource_group_id: id, item, hour, count } of rows)
      if (hour >= Date.parse(since)) sums.set(`${id} ${item}`, (sums.get(`${id} ${item}`) ?? 0) + count);
    return Object.fromEntries(sums);
  };
  const usage = await toolUsageOfDay(db, "t", at);
  expect(counted(usage, "2026-11-21T00:00Z")).toEqual({ [`${lives} server`]: 15, [`${lives} null`]: 15 });
  expect(counted(usage, "2026-11-21T12:00Z")).toEqual({ [`${lives} server`]: 12, [`${lives} null`]: 12 });
  const results = await toolResultsOfDay(db, "t", at);
  expect(counted(results, "2026-11-21T00:00Z")).toEqual({ [`${heir} model`]: 15, [`${heir} null`]: 15 });
  expect(counted(results, "2026-11-21T12:00Z")).toEqual({ [`${heir} model`]: 12, [`${heir} null`]: 12 });
});
