import type { GroupScope, ModelEntry } from "../directory/snapshot.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { Call } from "./call.ts";

/** Bounds of a nested call, used to compute its worst-case cost. */
export interface NestedBounds {
  readonly bodyBytes: number;
  readonly outputTokens: number | null;
  /** Longest wait in milliseconds for budget held by calls in flight; null for the same wait as a caller's call. */
  readonly waitMs: number | null;
  /** Whether the parent call waits for this one. */
  readonly parentWaits: boolean;
}

/** A job that outlives the call that started it, with its worst-case cost. */
export interface BudgetedJob {
  readonly scope: GroupScope;
  /** Null for a job of an agent, which counts only against budgets and the cost limit of its run. */
  readonly model: ModelEntry | null;
  /** The run it belongs to. */
  readonly rootTaskId: string | null;
  readonly micros: number;
  readonly tokens: number;
  /** Start time in milliseconds since the epoch; decides which budget windows the job counts in. */
  readonly at: number;
}

/** Budget holds of jobs. */
export interface JobBudgets {
  /**
   * Holds the job's worst case, replacing what the call `from` holds. If there is no room the job continues and its usage is counted all
   * the same. Rejects if the counters cannot be reached.
   */
  hold(id: string, job: BudgetedJob, from: Call | null): Promise<void>;
  /** Transfers the holds of the call that started the job to the job, and returns the amounts held. */
  takeOver(id: string, call: Call): Promise<{ readonly micros: number; readonly tokens: number }>;
  /** Replaces the hold with actual usage; does nothing if the job holds nothing. */
  settle(id: string, micros: number, tokens?: { readonly input: number; readonly output: number }): Promise<void>;
}

/** The limits as the road uses them, beyond their role as a request control. */
export interface CallLimits {
  /** Acquires the limits that apply to one member of a routing group alone; on a refusal the call fails over to another member. */
  enter(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null>;
  /** Holds the worst case of a nested call made on behalf of `parent`. */
  enterNested(call: Call, parent: Call, bounds: NestedBounds): Refusal | null | Promise<Refusal | null>;
  /** Replaces the call's holds with its actual usage. Null if it was done synchronously. Never rejects. */
  settle(call: Call): Promise<void> | null;
  /** Calls that were handed to a provider's batch. */
  readonly left: {
    /** Keeps the call's worst case held while its batch runs. On a refusal the call must not leave. */
    leave(call: Call): Promise<Refusal | null>;
    /** Releases the holds of calls that are not in `away`. */
    release(away: ReadonlySet<string>): void;
  };
  /** Called once the row of a settled call is sealed. */
  sealed(call: Call): void;
}
