/** The quotas that a group allots to those below it; their claims must fit into its own. */
export const QUOTAS = [
  "budget.daily_limit_usd",
  "budget.monthly_limit_usd",
  "tokens.daily_limit",
  "tokens.monthly_limit",
  "requests.daily_limit",
  "requests.monthly_limit",
] as const;
export type Quota = (typeof QUOTAS)[number];
