import type { Actual, BucketMeasure, Demand, Plan, WindowLimit, WindowMeasure } from "./counters.ts";

/** What a call takes of a window while it is in flight. A soft window takes nothing before the actual use is known. */
export function heldOf(window: WindowLimit, demand: Demand): number {
  if (!window.hard) return 0;
  return window.measure === "tokens" ? demand.tokens : window.measure === "micros" ? demand.micros : 0;
}

/** What is counted at once, because it cannot turn out less but by not happening. */
export function takenAtOnce(window: WindowLimit, demand: Demand): number {
  return window.measure === "requests" ? 1 : window.measure === "tool_calls" ? demand.toolCalls : 0;
}

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

/** What is left of `total` once `part` of it is taken away. */
export function without(total: Actual, { input, output, micros }: Actual): Actual {
  return {
    requests: total.requests,
    input: Math.max(0, total.input - input),
    output: Math.max(0, total.output - output),
    micros: Math.max(0, total.micros - micros),
  };
}

/** The window of a call that is a run of its own: nobody asks for it again. */
export function endsWithCall(window: WindowLimit): boolean {
  return window.truth === null && window.resetsAt === Number.POSITIVE_INFINITY;
}

/** Nobody can have used it uncounted: it began under limits that hold still. */
export function beginsAtZero({ since }: Plan, window: WindowLimit): boolean {
  return since !== undefined && window.startsAt > since;
}

/** What settling gives back of what was taken at once: of a call that never left, all of it. */
export function givenBack(window: WindowLimit, demand: Demand, actual: Actual): number {
  return actual.requests === 0 ? takenAtOnce(window, demand) : 0;
}
