import type { CallTotal } from "../../../directory/limits/usage-truth.ts";
import type { Admission } from "../admission/admission-answer.ts";

/**
 * What the two homes of counters (in this process, in Valkey) both do: one `admit` that checks and takes everything a
 * call needs at all its scopes in one atomic step, and one `settle` that puts the actual use in its place. Amounts are
 * whole numbers: requests, tokens, micro-dollars. Times are milliseconds of a clock that never steps.
 */

export type WindowMeasure = "requests" | "tokens" | "micros" | "tool_calls";
export type BucketMeasure = "requests" | "input" | "output" | "tokens" | "micros";

/** What a limit applies to. */
export interface Scope {
  readonly key: string;
  readonly kind: "group" | "model" | "server" | "user" | "capacity" | "run";
  readonly groupId: string;
  readonly groupName: string;
  /** Of limits for one model or tool server: its name. */
  readonly itemName?: string;
  /** How long the scope is locked once one of its buckets is empty; 0: not at all. */
  readonly cooldownMs: number;
  readonly maxConcurrent: number | null;
}

/** A quota: what may be used from `startsAt` until `resetsAt`. */
export interface WindowLimit {
  /** Unique with its period. */
  readonly key: string;
  readonly scope: number;
  readonly measure: WindowMeasure;
  readonly limit: number;
  /** False: it warns and never refuses. */
  readonly hard: boolean;
  readonly warnAt: number | null;
  readonly startsAt: number;
  /** Infinity: never. */
  readonly resetsAt: number;
  readonly limitType: string;
  readonly truth: Truth | null;
  /** Counted anew from the truth with each epoch, because what was counted before is too much; what is held goes on. */
  readonly epoch: number;
}

/** Which persistent usage total a window is warmed from. */
export type Truth =
  | { readonly kind: "group"; readonly groupId: string; readonly modelId: string | null; readonly period: "day" | "month" }
  | { readonly kind: "tools"; readonly groupId: string; readonly serverId: string | null }
  | { readonly kind: "skills"; readonly groupId: string; readonly skillId: string | null }
  | { readonly kind: "tool_results"; readonly groupId: string; readonly modelId: string | null }
  | { readonly kind: "run"; readonly rootTaskId: string };

/** A token bucket. Requests take one at admission; everything else is taken after the answer, so it may fall below zero. */
export interface BucketLimit {
  readonly key: string;
  readonly scope: number;
  readonly measure: BucketMeasure;
  readonly perMinute: number;
  readonly capacity: number;
  readonly limitType: string;
  /** What a call that nobody waits for leaves in it for those that somebody waits for. */
  readonly leave?: number;
}

/** Everything one call is held to. */
export interface Plan {
  readonly tenantId: string;
  readonly scopes: readonly Scope[];
  readonly windows: readonly WindowLimit[];
  readonly buckets: readonly BucketLimit[];
  /**
   * Every call of the tenant since then is held to these limits: a window that begins later begins at zero. Milliseconds;
   * left out where nobody knows.
   */
  readonly since?: number;
  /** True: rates, calls at once and cooldowns do not hold the call up; what it uses is charged to its buckets all the same. */
  readonly unpaced?: boolean;
}

/** The most a call can use. */
export interface Demand {
  readonly tokens: number;
  readonly micros: number;
  readonly toolCalls: number;
}

export interface Actual {
  /** 0 when the call never left for an upstream: then it does not count as a request. */
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
  /**
   * All or nothing. With `probe` nothing is taken and "admitted" only says that it could be. Rejects when the counters
   * cannot be reached.
   */
  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Admission | Promise<Admission>;
  /**
   * Admits `to` in the place of what these hold, in one step: nobody else can take it in between. They part with it,
   * having used nothing, as `to` is admitted, and hold it still where it is not. Rejects when the counters cannot be reached.
   */
  transfer(from: readonly Reservation[], to: Reservation): Admission | Promise<Admission>;
  /**
   * Gives up what an admitted call holds of its windows and counts what it used so far; the call goes on, and in its place
   * among calls at once. `settle` is then told of all it used, this part included. A second time changes nothing. Rejects
   * when the counters cannot be reached.
   */
  part(reservation: Reservation, actual: Actual): void | Promise<void>;
  /** Once for each admitted call; a second time changes nothing. Returns what each window came to. */
  settle(reservation: Reservation, actual: Actual): readonly number[] | Promise<readonly number[]>;
  /** Sets windows to the truth where they know less or are of an earlier epoch: `at` is when the truth was asked for. */
  warm(plan: Plan, spent: ReadonlyMap<number, number>, at: number): void | Promise<void>;
  /** The row of a settled call is on stable storage. */
  sealed(reservation: Pick<Reservation, "id" | "plan">): void;
  /**
   * Puts right what dead processes counted for calls whose rows say otherwise, and gives back what stays without a row for
   * too long. Rejects when something cannot be reached.
   */
  resolve(rowsOf: RowsOf): Promise<void>;
  /** Milliseconds after which a call that waits must look again by itself; null: every release is heard of. */
  readonly lookAgainMs: number | null;
  close(): Promise<void>;
}

/** The use that audit rows record for these calls, as far as they are in the database. */
export type RowsOf = (tenantId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, CallTotal>>;
