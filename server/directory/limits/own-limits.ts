import type { Fields } from "./merge.ts";

/** Whether a group sets a limit itself, or sets how an inherited one applies to it. */
export function setsLimit(own: Fields, effective: Fields, path: string, manners: readonly string[]): boolean {
  return own.has(path) || (effective.has(path) && manners.some((manner) => own.has(manner)));
}

/** Likewise for a quota, whose warning threshold a group may set itself, and for a budget also whether it is a hard stop. */
export function setsQuota(own: Fields, effective: Fields, quota: string): boolean {
  const warning = quota.replace(/_limit(?:_usd)?$/, "_warning_percent");
  return setsLimit(own, effective, quota, quota.startsWith("budget.") ? [warning, "budget.hard_stop"] : [warning]);
}
