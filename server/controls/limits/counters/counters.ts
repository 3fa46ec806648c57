import type { CallTotal } from "../../../directory/limits/usage-truth.ts";
import type { Admission } from "../admission/admission-answer.ts";

/**
 * The interface of all counter implementations: one `admit` that atomically checks and takes everything a call needs
 * in all its scopes, and one `settle` that replaces it with actual usage. Amounts are whole numbers: requests, tokens,
 * micro-dollars. Times are milliseconds of a monotonic clock.
 */

export type WindowMeasure = "requests" | "tokens" | "micros" | "tool_calls";
export type BucketMeasure = "requests" | "input" | "output" | "tokens" | "micros";

/** What a limit applies to. */
export interface Scope {
  readonly key: string;
  readonly kind: "group" | "model" | "server" | "user" | "capacity" | "run";
  readonly groupId: string;
  readonly groupName: string;
  /** Name of the model or tool server, for limits on one of them. */
  readonly itemName?: string;
  /** How long the scope is locked once one of its buckets is empty; 0: no cooldown. */
  readonly cooldownMs: number;
  readonly maxConcurrent: number | null;
}

/** A quota: what may be used from `startsAt` until `resetsAt`. */
export interface WindowLimit {
  /** Unique, since it includes the period. */
  readonly key: string;
  readonly scope: number;
  readonly measure: WindowMeasure;
  readonly limit: number;
  /** False: exceeding it warns and never refuses. */
  readonly hard: boolean;
  readonly warnAt: number | null;
  readonly startsAt: number;
  /** Infinity: never resets. */
  readonly resetsAt: number;
  readonly limitType: string;
  readonly truth: Truth | null;
  /** A higher epoch discards the count and reloads it from the usage totals, because the earlier count is too high; holds are kept. */
  readonly epoch: number;
}

/** The persistent usage total from which a window is loaded. */
export type Truth =
  | { readonly kind: "group"; readonly groupId: string; readonly modelId: string | null; readonly period: "day" | "month" }
  | { readonly kind: "tools"; readonly groupId: string; readonly serverId: string | null }
  | { readonly kind: "skills"; readonly groupId: string; readonly skillId: string | null }
  | { readonly kind: "tool_results"; readonly groupId: string; readonly modelId: string | null }
  | { readonly kind: "run"; readonly rootTaskId: string };

/** A token bucket. Requests take a token at admission; everything else is charged after the answer, so the level may become negative. */
export interface BucketLimit {
  readonly key: string;
  readonly scope: number;
  readonly measure: BucketMeasure;
  readonly perMinute: number;
  readonly capacity: number;
  readonly limitType: string;
  /** Amount that a batch call must leave in the bucket for interactive calls. */
  readonly leave?: number;
}

/** All limits that apply to one call. */
export interface Plan {
  readonly tenantId: string;
  readonly scopes: readonly Scope[];
  readonly windows: readonly WindowLimit[];
  readonly buckets: readonly BucketLimit[];
  /**
   * Every call of the tenant since this time was counted under these limits, so a window that starts later starts at
   * zero. Milliseconds; absent if unknown.
   */
  readonly since?: number;
  /** True: rate limits, concurrency limits and cooldowns do not apply, but usage is still charged to the buckets. */
  readonly unpaced?: boolean;
}

/** The most a call can use. */
export interface Demand {
  readonly tokens: number;
  readonly micros: number;
  readonly toolCalls: number;
}

export interface Actual {
  /** 0 if the call never reached an upstream; it then does not count as a request. */
  readonly requests: 0 | 1;
  readonly input: number;
  readonly output: number;
  readonly micros: number;
}

export const NOTHING_USED: Actual = { requests: 0, input: 0, output: 0, micros: 0 };

/** What an admitted call holds until it is settled. */
export interface Reservation {
  readonly id: string;
  readonly plan: Plan;
  readonly demand: Demand;
}

export interface Counters {
  /** All or nothing. With `probe` nothing is taken: "admitted" only means that it could be. Rejects if the counters are unreachable. */
  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Admission | Promise<Admission>;
  /**
   * Atomically admits `to` in place of what the `from` reservations hold, so that nobody else can take it in between. If admitted,
   * those in `from` release their holds without usage; otherwise they keep them. Rejects if the counters are unreachable.
   */
  transfer(from: readonly Reservation[], to: Reservation): Admission | Promise<Admission>;
  /**
   * Releases the window holds of an admitted call and counts its usage so far; the call continues and keeps its concurrency
   * slot. `settle` later reports the total, including this part. Idempotent. Rejects if the counters are unreachable.
   */
  part(reservation: Reservation, actual: Actual): void | Promise<void>;
  /** Called once for each admitted call; idempotent. Returns the new usage of each window, or nothing if there was nothing to settle. */
  settle(reservation: Reservation, actual: Actual): readonly number[] | Promise<readonly number[]>;
  /** Raises windows to recorded usage if they are lower or from an earlier epoch. `at`: when the totals were requested. */
  warm(plan: Plan, spent: ReadonlyMap<number, number>, at: number): void | Promise<void>;
  /** The row of a settled call is on stable storage. */
  sealed(reservation: Pick<Reservation, "id" | "plan">): void;
  /**
   * Corrects what dead processes counted from their calls' rows, and gives back what has no row after too long. Rejects
   * if counters or database are unreachable.
   */
  resolve(rowsOf: RowsOf): Promise<void>;
  /** Interval in milliseconds at which waiting calls must retry; null if every release is signalled. */
  readonly lookAgainMs: number | null;
  close(): Promise<void>;
}

/** The usage that audit rows in the database record for these calls, by call ID. */
export type RowsOf = (tenantId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, CallTotal>>;
