/** The quotas a group hands out to those below it: what they claim must fit into what it has. */
export const QUOTAS = [
  "budget.daily_limit_usd",
  "budget.monthly_limit_usd",
  "tokens.daily_limit",
  "tokens.monthly_limit",
  "requests.daily_limit",
  "requests.monthly_limit",
] as const;
export type Quota = (typeof QUOTAS)[number];
