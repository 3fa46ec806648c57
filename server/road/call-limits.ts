import type { GroupScope, ModelEntry } from "../directory/snapshot.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { Call } from "./call.ts";

/** The bounds of a call of the gateway's own. */
export interface NestedBounds {
  readonly bodyBytes: number;
  readonly outputTokens: number | null;
  /** Longest wait for calls in flight; null: as long as a caller's call. */
  readonly waitMs: number | null;
  /** Whether the call it is made for waits for it. */
  readonly parentWaits: boolean;
}

/** A job that runs on after the call that began it, and the most it may come to. */
export interface BudgetedJob {
  readonly scope: GroupScope;
  /** Null of an agent's: it is held to budgets alone, and to what its run may cost. */
  readonly model: ModelEntry | null;
  /** The run it belongs to. */
  readonly rootTaskId: string | null;
  readonly micros: number;
  readonly tokens: number;
  /** When it was asked for, milliseconds: it counts in the windows of then. */
  readonly at: number;
}

/** What jobs hold in budgets. */
export interface JobBudgets {
  /**
   * Holds what a job may come to, in the place of what the call `from` holds. Where there is no room the job goes on, and
   * what it used is counted all the same. Rejects when the counters cannot be reached.
   */
  hold(id: string, job: BudgetedJob, from: Call | null): Promise<void>;
  /** Holds for a job what the call that began it holds, in its place; what that is. */
  takeOver(id: string, call: Call): Promise<{ readonly micros: number; readonly tokens: number }>;
  /** Puts what it cost in the place of that; does nothing where nothing is held. */
  settle(id: string, micros: number, tokens?: { readonly input: number; readonly output: number }): Promise<void>;
}

/** The limits as the road uses them, besides their role as a request control. */
export interface CallLimits {
  /** Takes what is set for one member of a routing group alone; a refusal sends the call to another member. */
  enter(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null>;
  /** Takes what a call of the gateway's own, made on behalf of `parent`, may come to. */
  enterNested(call: Call, parent: Call, bounds: NestedBounds): Refusal | null | Promise<Refusal | null>;
  /** Puts what a call used in the place of what it held; null when it is done at once. Never rejects. */
  settle(call: Call): Promise<void> | null;
  /** Calls that leave in a batch of their provider. */
  readonly left: {
    /** Holds for a call, for as long as it is away, what it may come to. A refusal means that it must not leave. */
    leave(call: Call): Promise<Refusal | null>;
    /** Gives up what is held for calls that are not among these. */
    release(away: ReadonlySet<string>): void;
  };
  /** The row of a settled call is sealed. */
  sealed(call: Call): void;
}
