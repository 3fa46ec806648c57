import type { Actual, BucketMeasure, Demand, Plan, WindowLimit, WindowMeasure } from "./counters.ts";

/** What a call in flight holds of a window. Soft windows hold nothing; they only count actual usage. */
export function heldOf(window: WindowLimit, demand: Demand): number {
  if (!window.hard) return 0;
  return window.measure === "tokens" ? demand.tokens : window.measure === "micros" ? demand.micros : 0;
}

/** What is counted at admission because it is known in advance: requests and tool calls. */
export function takenAtOnce(window: WindowLimit, demand: Demand): number {
  return window.measure === "requests" ? 1 : window.measure === "tool_calls" ? demand.toolCalls : 0;
}

/** Actual usage in the unit of the window or bucket. */
export function usedOf(measure: WindowMeasure | BucketMeasure, actual: Actual): number {
  switch (measure) {
    case "tokens":
      return actual.input + actual.output;
    case "input":
      return actual.input;
    case "output":
      return actual.output;
    case "micros":
      return actual.micros;
    default:
      return 0;
  }
}

/** `total` minus `part`, not below zero. The number of requests is unchanged. */
export function minusActual(total: Actual, { input, output, micros }: Actual): Actual {
  return {
    requests: total.requests,
    input: Math.max(0, total.input - input),
    output: Math.max(0, total.output - output),
    micros: Math.max(0, total.micros - micros),
  };
}

/** Whether the window belongs to a run of a single call, so that no later call needs it. */
export function endsWithCall(window: WindowLimit): boolean {
  return window.truth === null && window.resetsAt === Number.POSITIVE_INFINITY;
}

/** Whether the window began after the limits were last changed, so that it misses no earlier usage. */
export function beginsAtZero({ since }: Plan, window: WindowLimit): boolean {
  return since !== undefined && window.startsAt > since;
}

/** What settling gives back of `takenAtOnce`: everything if the call never reached an upstream, otherwise nothing. */
export function refundedAmount(window: WindowLimit, demand: Demand, actual: Actual): number {
  return actual.requests === 0 ? takenAtOnce(window, demand) : 0;
}
