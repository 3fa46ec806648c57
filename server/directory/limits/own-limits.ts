import type { Fields } from "./merge.ts";

/** Whether a group sets a limit, or says of one that it inherits how that holds for it. */
export function setsLimit(own: Fields, effective: Fields, path: string, manners: readonly string[]): boolean {
  return own.has(path) || (effective.has(path) && manners.some((manner) => own.has(manner)));
}

/** The same of a quota: a group may say when it is warned of it, and of a budget whether it stops. */
export function setsQuota(own: Fields, effective: Fields, quota: string): boolean {
  const warning = quota.replace(/_limit(?:_usd)?$/, "_warning_percent");
  return setsLimit(own, effective, quota, quota.startsWith("budget.") ? [warning, "budget.hard_stop"] : [warning]);
}
