import type { ModelEntry } from "../../directory/snapshot.ts";
import { noteClamped } from "../../road/record/clamped.ts";
import type { Call } from "../../road/call.ts";
import type { RequestView } from "../../road/view.ts";
import type { Demand, Reservation } from "./counters/counters.ts";
import type { CallPlan } from "./plans/plan.ts";
import type { WorstCase } from "./plans/worst-case.ts";

/** One call being admitted, or being routed to a member of its routing group. */
export interface LimitedCall {
  /** ID of the reservation. */
  readonly id: string;
  readonly call: Call;
  /** Null if the request can no longer be changed. */
  readonly view: RequestView | null;
  /** Null for calls that no model serves. */
  readonly model: ModelEntry | null;
  readonly plan: CallPlan;
  /** Its input is bounded by bytes at first, and by counted tokens if that does not fit. */
  worst: WorstCase | null;
  /** Tokens counted in the request; null if they were not counted. */
  counted: number | null;
  outputTokens: number;
  demand: Demand;
  /** Goes to the head of the queue and waits at most `ms` milliseconds; `lender` first releases its hold. Null for callers' own calls. */
  readonly ahead: { readonly ms: number; readonly lender: Call | null } | null;
}

/** A call that no model serves; `micros`: the cost to hold. */
export function servedByNoModel(call: Call, view: RequestView, plan: CallPlan, micros: number): LimitedCall {
  return {
    id: call.id,
    call,
    view,
    model: null,
    plan,
    worst: null,
    counted: null,
    outputTokens: 0,
    demand: { tokens: 0, micros, toolCalls: 0 },
    ahead: null,
  };
}

/** One of the gateway's own calls. */
export function ofOwnCall(
  call: Call,
  model: ModelEntry,
  plan: CallPlan,
  { demand, outputTokens, ahead }: Pick<LimitedCall, "demand" | "outputTokens" | "ahead">,
): LimitedCall {
  return { id: call.id, call, view: null, model, plan, worst: null, counted: null, outputTokens, demand, ahead };
}

/** The hold of a routed call: its worst case over all members, and what it holds for the member being tried. */
export interface RoutedReservation {
  readonly arriving: LimitedCall;
  reservation: Reservation | null;
  /** Number of attempts before the current member was entered. */
  attemptsBefore: number;
  /** Additional holds for the usage of failed attempts, so that the main hold covers one more attempt. */
  readonly again: Reservation[];
  /** Number of attempts whose usage is held this way. */
  coveredAttempts: number;
  tries: number;
}

/** Sets the held output length in a request that leaves it open. */
export function boundAnswer({ call, worst, view, outputTokens }: LimitedCall): void {
  if (worst === null || view === null || (!worst.outputMustBeSet && outputTokens >= worst.outputTokens)) return;
  view.maxTokens = Math.max(1, Math.floor(outputTokens / view.candidates));
  if (outputTokens < worst.outputTokens) noteClamped(call, "max_tokens");
}
