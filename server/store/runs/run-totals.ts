/** Totals of a run's calls: columns of a run, and of the hourly sums over runs that began in an hour. */
export const RUN_TOTALS = [
  "calls",
  "llm_calls",
  "tool_calls",
  "tool_errors",
  "errors",
  "late_calls",
  "asserted_calls",
  "intact_calls",
  "external_calls",
  "prompt_tokens",
  "completion_tokens",
  "cost_micro_usd",
  "unpriced_calls",
] as const;
