import type { Fields } from "../../../directory/limits/merge.ts";
import { type Period, periodEnd, periodStart, utcDay } from "../../../directory/limits/periods.ts";
import { microsFromUsd } from "../../../kernel/money.ts";
import type { BucketLimit, Scope, WindowLimit, WindowMeasure } from "../counters/counters.ts";

export interface Parts {
  readonly scopes: Scope[];
  readonly windows: WindowLimit[];
  readonly buckets: BucketLimit[];
}

export type QuotaTerms = readonly [path: string, measure: WindowMeasure, period: Period, warning: string | null, limitType: string];

/** Key prefix and epoch of windows. */
export interface CountedAs {
  readonly prefix: string;
  readonly epoch: number;
}

export type TruthOf = (period: Period) => WindowLimit["truth"];

/** The quotas of one scope. */
export interface WindowsOf {
  /** Index of the scope in the plan. */
  readonly scope: number;
  readonly counted: CountedAs;
  readonly quotas: readonly QuotaTerms[];
  readonly effective: Fields;
  readonly truth: TruthOf;
}

/** Adds, for each quota, the window that is open at `at`. */
export function addWindows(parts: Parts, { scope, counted, quotas, effective, truth }: WindowsOf, at: number): void {
  for (const [path, measure, period, warning, limitType] of quotas) {
    const value = effective.get(path) as number;
    const limit = measure === "micros" ? microsFromUsd(value) : value;
    const percent = warning === null ? undefined : (effective.get(warning) as number | undefined);
    const startsAt = periodStart(period, at);
    parts.windows.push({
      key: `${counted.prefix}/${measure}/${period}/${period === "hour" ? startsAt : utcDay(startsAt)}`,
      scope,
      measure,
      limit,
      hard: measure !== "micros" || effective.get("budget.hard_stop") === true,
      warnAt: percent === undefined ? null : (limit * percent) / 100,
      startsAt,
      resetsAt: periodEnd(period, at),
      limitType,
      truth: truth(period),
      epoch: counted.epoch,
    });
  }
}
