import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../kernel/clock.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { readComplianceReport, readResidency } from "./reports.ts";

const RETENTION = JSON.stringify({ store_bodies: "full", body_days: 10, log_days: 20, run_days: 20 });

let database: TestDatabase;
let statements: string[];
beforeAll(async () => {
  database = await testDatabase({ onQuery: (sql) => void statements.push(sql) });
  statements = [];
  await database.db
    .insertInto("tenants")
    .values({ id: "acme", name: "acme", data_retention: RETENTION } as never)
    .execute();
});
beforeEach(() => {
  statements = [];
});
afterAll(() => database.close());

const directory = () => ({ db: database.db, clock: systemClock() });
/** Statements that read the calls of a window. Each reads all of its rows, which is what a report costs. */
const passes = () => statements.filter((sql) => /FROM audit_rows\b/.test(sql) && !sql.includes("overdueRows")).length;

test("a report reads the rows of its window only as often as its items need", async () => {
  await readResidency(directory(), "acme", {});
  expect(passes()).toBe(1);
  for (const [framework, most] of [
    ["soc2", 1],
    ["gdpr_art_30", 2],
    ["iso_42001", 2],
    ["hipaa", 2],
    ["eu_ai_act", 3],
  ] as const) {
    statements = [];
    await readComplianceReport(directory(), "acme", framework, {});
    expect([framework, passes()]).toEqual([framework, most]);
  }
});
