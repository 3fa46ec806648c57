import type { AlertWriter } from "../../directory/limits/alert-writer.ts";
import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Counters } from "./counters/counters.ts";
import type { CountTokens } from "./plans/input-counts.ts";

/** The dependencies of the limits. */
export interface LimitsParts {
  readonly counters: Counters;
  readonly truth: UsageTruth;
  readonly alerts: Pick<AlertWriter, "raise">;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether calls with only rate limits are refused while the counters are unreachable; hard quotas and budgets always refuse then. */
  readonly whenAway: "closed" | "open";
  /** Longest time, in milliseconds, that a call waits for calls in flight to settle. */
  readonly waitMs: number;
  readonly countTokens: CountTokens;
}
