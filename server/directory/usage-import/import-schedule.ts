import { Cron } from "croner";
import { invalidField } from "../writes/records.ts";

export const DEFAULT_IMPORT_SCHEDULE = "17 3 * * *";
const MIN_MS = 15 * 60_000;
/** Enough occurrences to detect patterns that are too frequent only at times. */
const CHECKED_RUNS = 200;
/** Spreads the imports of all tenants, so that they do not start in the same second. */
const SPREAD_SECONDS = 300;

const cronOf = (pattern: string) => new Cron(pattern, { timezone: "UTC", mode: "5-part", paused: true });

/** Throws a refusal for a pattern that is invalid, never occurs or occurs too often. */
export function checkSchedule(pattern: string, now: Date): void {
  let times: Date[];
  try {
    times = cronOf(pattern).nextRuns(CHECKED_RUNS, now);
  } catch {
    throw invalidField("import_schedule_cron", "must be five fields of cron: minute, hour, day, month, weekday");
  }
  if (times.length === 0) throw invalidField("import_schedule_cron", "never comes");
  if (times.some((time, at) => at > 0 && time.getTime() - (times[at - 1]?.getTime() ?? 0) < MIN_MS))
    throw invalidField("import_schedule_cron", "must leave at least 15 minutes between two runs");
}

/** The next occurrence of a schedule, delayed by up to five minutes that are fixed per provider; null if there is none. */
export function nextImport(pattern: string, providerId: string, now: Date): Date | null {
  const spread = (Number.parseInt(providerId.replaceAll("-", "").slice(0, 8), 16) % SPREAD_SECONDS) * 1000;
  const next = cronOf(pattern).nextRun(new Date(now.getTime() - spread));
  return next === null ? null : new Date(Math.max(next.getTime() + spread, now.getTime() + 1000));
}
