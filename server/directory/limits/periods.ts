import type { Quota } from "./quotas.ts";

/** Quota windows: days start at 00:00 UTC, months on the 1st at 00:00 UTC. Times are epoch milliseconds. */
export type Period = "hour" | "day" | "month";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export function periodOf(quota: Quota): "day" | "month" {
  return quota.includes("daily") ? "day" : "month";
}

export function periodStart(period: Period, at: number): number {
  if (period === "hour") return at - (at % HOUR);
  if (period === "day") return at - (at % DAY);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

export function periodEnd(period: Period, at: number): number {
  if (period === "hour") return periodStart(period, at) + HOUR;
  if (period === "day") return periodStart(period, at) + DAY;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Formatted as `2026-11-21`. */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
