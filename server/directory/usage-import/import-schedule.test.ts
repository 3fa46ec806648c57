import { expect, test } from "bun:test";
import { checkSchedule, nextImport } from "./import-schedule.ts";

const now = new Date("2026-11-25T12:00:00Z");
const FIRST = "00000000-0000-4000-8000-000000000000";

test("a usage import runs at its cron schedule, delayed by an offset per provider, and once each time", () => {
  expect(nextImport("0 3 * * *", FIRST, now)).toEqual(new Date("2026-11-26T03:00:00Z"));
  const spread = "000000ff-0000-4000-8000-000000000000";
  const next = nextImport("0 3 * * *", spread, now);
  expect(next).toEqual(new Date("2026-11-26T03:04:15Z"));
  expect(nextImport("0 3 * * *", spread, next ?? now)).toEqual(new Date("2026-11-27T03:04:15Z"));
});

test("a cron pattern that is invalid, never due or too frequent is refused, naming import_schedule_cron", () => {
  for (const good of ["0 3 * * *", "*/15 * * * *", "0 0 29 2 *", "30 2 * * 1-5"]) checkSchedule(good, now);
  for (const bad of ["* * * * *", "*/5 * * * *", "0,10 * * * *", "0 0 31 2 *", "0 0 0 * * *", "often", "61 * * * *"])
    expect(() => checkSchedule(bad, now)).toThrow("import_schedule_cron");
});
