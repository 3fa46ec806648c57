import { microsFromUsd } from "../../kernel/money.ts";
import { inputTokens } from "../../wire/usage.ts";
import type { Attempt, Call } from "../../road/call.ts";
import type { Actual, Demand } from "./counters/counters.ts";
import { minusActual } from "./counters/window-amounts.ts";

/** The usage of the whole call, as its row records it. */
export function usedByCall({ row }: Call): Actual {
  return {
    requests: row.llm_model_used == null && (row.llm_model_requested != null || row.target_url == null) ? 0 : 1,
    input: row.llm_prompt_tokens ?? 0,
    output: row.llm_completion_tokens ?? 0,
    micros: row.llm_estimated_cost_usd == null ? 0 : microsFromUsd(row.llm_estimated_cost_usd),
  };
}

/** Usage of a failed attempt. The usage of an attempt that served the call is on the row instead. */
export function usedByAttempt({ usage, costMicros }: Attempt): Actual {
  return { requests: 1, input: usage === null ? 0 : inputTokens(usage), output: usage?.output ?? 0, micros: costMicros ?? 0 };
}

/** The last attempt's share of `total`, which includes all attempts. */
export function usedByLastAttempt(total: Actual, attempts: readonly Attempt[]): Actual {
  return attempts.slice(0, -1).map(usedByAttempt).reduce(minusActual, total);
}

/** The amounts to hold for the usage of failed attempts. */
export function demandOfFailedAttempts(attempts: readonly Attempt[]): Demand {
  const used = attempts.map(usedByAttempt);
  return {
    tokens: used.reduce((sum, { input, output }) => sum + input + output, 0),
    micros: used.reduce((sum, { micros }) => sum + micros, 0),
    toolCalls: 0,
  };
}
