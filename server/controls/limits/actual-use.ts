import { microsFromUsd } from "../../kernel/money.ts";
import { inputTokens } from "../../wire/usage.ts";
import type { Attempt, Call } from "../../road/call.ts";
import type { Actual, Demand } from "./counters/counters.ts";
import { without } from "./counters/reckoning.ts";

/** What the call used, as its row tells it. */
export function recorded({ row }: Call): Actual {
  return {
    requests: row.llm_model_used == null && (row.llm_model_requested != null || row.target_url == null) ? 0 : 1,
    input: row.llm_prompt_tokens ?? 0,
    output: row.llm_completion_tokens ?? 0,
    micros: row.llm_estimated_cost_usd == null ? 0 : microsFromUsd(row.llm_estimated_cost_usd),
  };
}

/** What a failed attempt used; of one that served the call the row tells. */
export function attempted({ usage, costMicros }: Attempt): Actual {
  return { requests: 1, input: usage === null ? 0 : inputTokens(usage), output: usage?.output ?? 0, micros: costMicros ?? 0 };
}

/** The part of the last attempt: the row's totals hold those before it too. */
export function ofLastAttempt(total: Actual, attempts: readonly Attempt[]): Actual {
  return attempts.slice(0, -1).map(attempted).reduce(without, total);
}

/** What must be held for what failed attempts used. */
export function demandOfFailed(attempts: readonly Attempt[]): Demand {
  const used = attempts.map(attempted);
  return {
    tokens: used.reduce((sum, { input, output }) => sum + input + output, 0),
    micros: used.reduce((sum, { micros }) => sum + micros, 0),
    toolCalls: 0,
  };
}
