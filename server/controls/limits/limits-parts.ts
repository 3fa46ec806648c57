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
  /** What happens to rate limits when the counters cannot be reached; quotas and hard budgets always refuse then. */
  readonly whenAway: "closed" | "open";
  /** Longest wait of a call for calls in flight to be settled. */
  readonly waitMs: number;
  readonly countTokens: CountTokens;
}
