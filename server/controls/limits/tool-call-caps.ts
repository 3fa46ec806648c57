import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer, WholeAnswer } from "../../road/answer.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl } from "../../road/control.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import { toolCallsMade, upToToolCallCap } from "../../road/output/counted-calls.ts";
import type { Exchange } from "../../road/surface.ts";
import { modelOf } from "../../road/target.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import type { AdmissionGate } from "./admission/admission-gate.ts";
import type { Reservation } from "./counters/counters.ts";
import type { LimitedCall } from "./limited-call.ts";
import type { CallPlan } from "./plans/plan.ts";
import { toolCallPlan } from "./plans/tool-call-plan.ts";

/**
 * `tool_use.max_tool_calls_per_hour` and `_per_day` (interface 8.3): an answer's tool calls are counted when the model
 * makes them, and an answer with more than are left is not returned. A stream is cut before the first call that is too
 * many. With shared counters, concurrent streams may exceed a cap together.
 */
export class ToolCallCaps implements AnswerControl {
  readonly name = "tool calls of an hour and a day";
  private readonly gate: Pick<AdmissionGate, "pass">;
  private readonly plans: (scope: GroupScope, model: ModelEntry, at: number, make: typeof toolCallPlan) => CallPlan;
  /** Reservations by call; a promise while shared counters have not answered yet, null if not obtained. */
  private readonly taken = new WeakMap<Call, (Reservation | null | Promise<Reservation | null>)[]>();

  constructor(gate: ToolCallCaps["gate"], plans: ToolCallCaps["plans"]) {
    this.gate = gate;
    this.plans = plans;
  }

  prepare(call: Call, { conversation }: Exchange): AnswerCheck | null {
    const model = modelOf(call);
    if (conversation === undefined || model === null || call.scope === null) return null;
    if (this.planOf(call, model).windows.length === 0) return null;
    const form = outputFormOf(conversation);
    return (answer) => {
      if (answer.status >= 300) return answer;
      return answer.kind === "whole" ? this.whole(call, form, answer) : this.stream(call, form, answer);
    };
  }

  private planOf(call: Call, model: ModelEntry): CallPlan {
    return this.plans(call.scope as GroupScope, model, arrivalOf(call), toolCallPlan);
  }

  /** Settles the call's tool-call reservations, including pending ones: calls that an answer has made count in any case. */
  settle(call: Call, settle: (taken: Reservation) => Promise<void> | null): (Promise<void> | null)[] {
    const all = this.taken.get(call) ?? [];
    this.taken.delete(call);
    const settled = (taken: Reservation | null) => (taken === null ? null : settle(taken));
    return all.map((taken) => (taken instanceof Promise ? taken.then(settled).then(() => undefined) : settled(taken)));
  }

  private whole(call: Call, form: OutputForm, answer: WholeAnswer): Answer | Refusal | Promise<Answer | Refusal> {
    const made = toolCallsMade(form, answer.body);
    if (made === null) return refuse("upstream_invalid_response");
    if (made === 0) return answer;
    const refusal = this.take(call, made);
    if (refusal instanceof Promise) return refusal.then((found) => found ?? noted(call, made, answer));
    return refusal ?? noted(call, made, answer);
  }

  private async stream(call: Call, form: OutputForm, answer: Answer & { readonly kind: "stream" }): Promise<Answer | Refusal> {
    // Checked before the first frame, because shared counters cannot be asked in the middle of one.
    let left = Number.POSITIVE_INFINITY;
    const admission = this.take(call, 0, (plan, spent) => {
      left = Math.min(...plan.windows.map(({ limit }, i) => limit - (spent[i] as number)));
    });
    const unavailable = await admission;
    if (unavailable !== null && unavailable.code !== "tool_call_limit_exceeded") return unavailable;
    const none = unavailable;
    let counted = 0;
    return upToToolCallCap(call, form, answer, (made) => {
      if (none !== null) return none;
      const more = made - counted;
      const refusal = this.take(call, more);
      if (refusal instanceof Promise) {
        void refusal.catch(() => undefined);
        if (made > left) return exceeded("The tool calls of this resource group's hour or day are used up.");
      } else if (refusal !== null) return refusal;
      counted = made;
      noteCalls(call, made);
      return null;
    });
  }

  private take(
    call: Call,
    toolCalls: number,
    held: (plan: CallPlan, spent: readonly number[]) => void = () => undefined,
  ): Refusal | null | Promise<Refusal | null> {
    const model = modelOf(call) as ModelEntry;
    const plan = this.planOf(call, model);
    const taken = this.taken.get(call) ?? [];
    this.taken.set(call, taken);
    const limited: LimitedCall = {
      id: `${call.id}/tools/${taken.length}`,
      call,
      view: null,
      model,
      plan,
      worst: null,
      counted: null,
      outputTokens: 0,
      demand: { tokens: 0, micros: 0, toolCalls },
      ahead: { ms: 0, lender: null },
    };
    let reservation: Reservation | null = null;
    const passed = this.gate.pass(limited, ({ spent }) => {
      reservation = { id: limited.id, plan, demand: limited.demand };
      held(plan, spent);
    });
    const had = () => reservation;
    taken.push(passed instanceof Promise ? passed.then(had, had) : reservation);
    return passed instanceof Promise ? passed.then(withoutDetail) : withoutDetail(passed);
  }
}

/** Records the number of tool calls on the row; after a restart, counters are loaded from rows. */
function noteCalls({ row }: Call, made: number): void {
  row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), tool_calls: made };
}

function noted(call: Call, made: number, answer: WholeAnswer): Answer {
  noteCalls(call, made);
  return answer;
}

/** A tool-call cap must not look like a usage limit, because retrying the request does not help. */
function withoutDetail(refusal: Refusal | null): Refusal | null {
  return refusal?.code === "usage_limit_reached" ? exceeded(refusal.message, refusal.extra) : refusal;
}

function exceeded(message: string, extra: Refusal["extra"] = {}): Refusal {
  return refuse("tool_call_limit_exceeded", message, { extra });
}
