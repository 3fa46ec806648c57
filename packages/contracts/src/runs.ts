import { z } from "zod";
import { listOf, pageQuery, timestamp } from "./conventions.ts";

export const RUN_STATES = ["open", "completed", "completed_degraded", "exhausted", "errored", "blocked_policy", "cancelled"] as const;
/** End states a caller may declare for its run (interface 3.3). */
export const DECLARED_END_STATES = ["completed", "errored", "exhausted", "cancelled"] as const;
export const RUN_OUTCOMES = ["resolved", "escalated", "handed_off", "abandoned_by_user"] as const;

const count = z.number().int();
const percent = z.number().nullable().describe("0 to 100; null if there is nothing to measure");

export const run = z
  .object({
    root_task_id: z.string(),
    run_id: z.string().describe("as the caller named it, or the generated ID"),
    resource_group_id: z.string(),
    state: z.enum(RUN_STATES),
    state_source: z.enum(["client", "derived"]).nullable().describe("who ended it; null while it is open"),
    outcome: z.enum(RUN_OUTCOMES).nullable().describe("as reported by the client, in addition to the state"),
    started_at: timestamp,
    last_call_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    calls: count,
    llm_calls: count,
    tool_calls: count,
    tool_errors: count,
    errors: count,
    late_calls: count.describe("after the end; in no other figure"),
    external_calls: count.describe("reported by traces, not made through the gateway"),
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cost_usd: z.number(),
    unpriced_calls: count.describe("calls without a price, which are not in the cost"),
  })
  .meta({ id: "Run" });

export const runPage = listOf("runs", run).extend({
  total_is_exact: z
    .boolean()
    .describe(
      "false: there are more than a thousand, and total is the sum of their hours; with a state and an outcome there are at least total",
    ),
});

const window = {
  from: timestamp.optional().describe("runs that started at or after; default: a day before `to`"),
  to: timestamp.optional().describe("runs that started before; default: now"),
};

export const runQuery = z.strictObject({
  ...pageQuery.shape,
  state: z.enum(RUN_STATES).optional(),
  outcome: z.enum(RUN_OUTCOMES).optional(),
  from: timestamp.optional().describe("runs that started at or after"),
  to: timestamp.optional().describe("runs that started before"),
});

export const runWindow = z.strictObject(window);

const signals = {
  runs: count,
  cost: z.object({ total_usd: z.number(), per_run_usd: z.number().nullable(), unpriced_calls: count }),
  tokens: z.object({ prompt: count, completion: count, total: count }),
  trajectory_length: z.object({ mean: z.number().nullable(), max: count }).describe("calls of a run"),
  errors: z.object({ calls: count, errors: count, rate_pct: percent }),
  tool_errors: z.object({ calls: count, errors: count, rate_pct: percent }),
  outcome_mix: z.record(z.enum(RUN_STATES), count).describe("runs in each state"),
  ended_by_client: count,
  late_calls: count,
  coverage: z
    .object({
      observed_pct: percent.describe("calls made through the gateway"),
      chain_integrity_pct: percent.describe("of those, calls whose place in the run the gateway assigned or verified"),
      asserted_pct: percent.describe("of those, calls whose place in the run the caller claimed"),
      external_pct: percent.describe("calls known from traces only"),
    })
    .describe("how much of the figures the gateway observed itself"),
  client_outcomes: z
    .object({
      resolved: count,
      escalated: count,
      handed_off: count,
      abandoned_by_user: count,
      coverage_pct: percent.describe("runs with a reported outcome"),
    })
    .describe("as clients reported them"),
};

export const runStats = z
  .object({ ai_system_id: z.string(), from: timestamp.describe("start of an hour"), to: timestamp, ...signals })
  .meta({ id: "RunStats" });

export const runTimeseries = z
  .object({
    ai_system_id: z.string(),
    from: timestamp.describe("start of an hour"),
    to: timestamp,
    bucket: z.enum(["hour", "day"]).describe("hours for windows of 48 hours and under"),
    buckets: z.array(z.object({ at: timestamp, ...signals })),
  })
  .meta({ id: "RunTimeseries" });

export type RunSignals = Omit<z.output<typeof runStats>, "ai_system_id" | "from" | "to">;
