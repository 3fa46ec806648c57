import type { GeneratedRange } from "./generated-rows.ts";

/** The group that has about a quarter of all runs, and its tenant. */
export const BUSIEST_GROUP = "9d2c6f0e-8f2b-4d57-9d7c-000000000000";
export const BUSIEST_TENANT = "t1c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e";

/**
 * SQL that stores generated runs, run `i` started at `startMs + i * stepMs`: forty groups of which few have most, runs of
 * one call to a few hundred, and in states and outcomes some that one run in twenty or fifty thousand has.
 */
export function generateRuns(range: GeneratedRange): string {
  return `
INSERT INTO runs (tenant_id, root_task_id, run_id, resource_group_id, participants, state, state_source, outcome, started_at, last_at, last_id, last_result, active_at, ended_at, closed_at,
 calls, llm_calls, tool_calls, tool_errors, errors, late_calls, asserted_calls, intact_calls, external_calls, prompt_tokens, completion_tokens, cost_micro_usd, unpriced_calls)
SELECT CASE WHEN g % 10 = 3 THEN 't2c6f0e0-8f2b-4d57-9d7c-0d9b6f0c6f0e' ELSE '${BUSIEST_TENANT}' END, md5('run' || i), CASE WHEN g % 4 = 0 THEN 'run-' || i END, '9d2c6f0e-8f2b-4d57-9d7c-' || lpad(to_hex(g), 12, '0'), ARRAY['key ' || g],
 state, CASE WHEN state <> 'open' THEN CASE WHEN i % 3 = 0 THEN 'client' ELSE 'derived' END END, CASE WHEN i % 20011 = 9 THEN 'abandoned_by_user' WHEN r2 < 0.08 THEN 'resolved' WHEN r2 < 0.1 THEN 'escalated' WHEN r2 < 0.101 THEN 'handed_off' END,
 ts, ts + lasted, md5('last' || i), 'completed', ts + lasted, CASE WHEN state <> 'open' THEN ts + lasted END, CASE WHEN state <> 'open' THEN ts + lasted END,
 calls, calls - calls / 4, calls / 4, CASE WHEN i % 90 = 1 THEN 1 ELSE 0 END, CASE WHEN state = 'errored' THEN 1 ELSE 0 END, CASE WHEN i % 700 = 3 THEN 1 ELSE 0 END, CASE WHEN g % 4 = 0 THEN calls ELSE 0 END, CASE WHEN g % 4 = 0 THEN 0 ELSE calls END, 0, calls * 900, calls * 150, calls * 3750, CASE WHEN i % 50 = 7 THEN 1 ELSE 0 END
FROM (SELECT *, CASE WHEN i % 50021 = 17 THEN 'exhausted' WHEN i % 5003 = 11 THEN 'open' WHEN r1 < 0.9 THEN 'completed' WHEN r1 < 0.94 THEN 'completed_degraded' WHEN r1 < 0.97 THEN 'errored' WHEN r1 < 0.99 THEN 'blocked_policy' ELSE 'cancelled' END AS state,
   calls * interval '2 seconds' AS lasted
  FROM (SELECT i, timestamptz 'epoch' + (${range.startMs} + i * ${range.stepMs}::float8) * interval '1 ms' AS ts, (power(random(), 3) * 40)::int AS g, 1 + (power(random(), 4) * 200)::int AS calls, random() AS r1, random() AS r2 FROM generate_series(${range.from}::bigint, ${range.to - 1}::bigint) i) base) x`;
}
