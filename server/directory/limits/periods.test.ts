import { expect, test } from "bun:test";
import { periodEnd, periodStart, utcDay } from "./periods.ts";

const at = (text: string) => Date.parse(text);

test("quota days begin at 00:00 UTC and months on the 1st, including leap days and year ends", () => {
  expect([periodStart("day", at("2028-02-29T23:59:59.999Z")), periodEnd("day", at("2028-02-29T23:59:59.999Z"))]).toEqual([
    at("2028-02-29T00:00:00Z"),
    at("2028-03-01T00:00:00Z"),
  ]);
  expect([periodStart("month", at("2026-12-31T23:00:00Z")), periodEnd("month", at("2026-12-31T23:00:00Z"))]).toEqual([
    at("2026-12-01T00:00:00Z"),
    at("2027-01-01T00:00:00Z"),
  ]);
  expect([periodStart("hour", at("2026-11-21T14:59:59Z")), periodEnd("hour", at("2026-11-21T14:00:00Z"))]).toEqual([
    at("2026-11-21T14:00:00Z"),
    at("2026-11-21T15:00:00Z"),
  ]);
  expect(utcDay(at("2026-11-21T00:00:00+02:00"))).toBe("2026-11-20");
});
