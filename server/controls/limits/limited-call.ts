import type { ModelEntry } from "../../directory/snapshot.ts";
import { noteClamped } from "../../road/record/clamped.ts";
import type { Call } from "../../road/call.ts";
import type { RequestView } from "../../road/view.ts";
import type { Demand, Reservation } from "./counters/counters.ts";
import type { CallPlan } from "./plans/plan.ts";
import type { WorstCase } from "./plans/worst-case.ts";

/** One call being admitted, or being routed to a member of its routing group. */
export interface LimitedCall {
  /** Of what is to be held. */
  readonly id: string;
  readonly call: Call;
  /** Null where nothing of the request may be changed any more. */
  readonly view: RequestView | null;
  /** Null of a call to a tool server. */
  readonly model: ModelEntry | null;
  readonly plan: CallPlan;
  /** Its input is by bytes at first, and counted where they do not fit. */
  worst: WorstCase | null;
  /** Tokens counted in the request; null where nobody had to. */
  counted: number | null;
  outputTokens: number;
  demand: Demand;
  /** Goes before the calls that wait, and waits no longer than `ms`; `lender` gives up what it holds first. Null: a caller's own call. */
  readonly ahead: { readonly ms: number; readonly lender: Call | null } | null;
}

/** A call that no model serves; `micros`: what is held of its cost. */
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

/** A call of the gateway's own. */
export function ofOwnCall(
  call: Call,
  model: ModelEntry,
  plan: CallPlan,
  { demand, outputTokens, ahead }: Pick<LimitedCall, "demand" | "outputTokens" | "ahead">,
): LimitedCall {
  return { id: call.id, call, view: null, model, plan, worst: null, counted: null, outputTokens, demand, ahead };
}

/** The worst case of a call to a routing group over all its members, and what it holds at the member being tried. */
export interface RoutedReservation {
  readonly arriving: LimitedCall;
  reservation: Reservation | null;
  /** Attempts that were made before it was entered. */
  attemptsBefore: number;
  /** Held beside what the call holds: what attempts used that failed, so that it covers one more. */
  readonly again: Reservation[];
  /** Attempts whose use is held again. */
  coveredAttempts: number;
  tries: number;
}

/** Writes the longest answer that is held for into a request that leaves it open. */
export function boundAnswer({ call, worst, view, outputTokens }: LimitedCall): void {
  if (worst === null || view === null || (!worst.outputMustBeSet && outputTokens >= worst.outputTokens)) return;
  view.maxTokens = Math.max(1, Math.floor(outputTokens / view.candidates));
  if (outputTokens < worst.outputTokens) noteClamped(call, "max_tokens");
}
