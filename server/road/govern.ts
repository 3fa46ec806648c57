import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { httpStatusOf, isRefusal, type Refusal } from "../kernel/errors.ts";
import type { Answer, WholeAnswer } from "./answer.ts";
import { clearedWhole } from "./answers/cleared-answer.ts";
import type { Call } from "./call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "./control.ts";
import { settle } from "./metering/settle.ts";
import { outputFormOfExchange } from "./output/answer-formats.ts";
import { noteSettings } from "./record/settings.ts";
import type { Exchange } from "./surface.ts";
import type { RequestView } from "./view.ts";

/** The controls every exchange passes. Their order is part of the product (docs/lifecycle.md). */
export interface Controls {
  readonly request: readonly RequestControl[];
  /** Each sees the answer as the previous one left it. */
  readonly answer: readonly AnswerControl[];
}

export type Govern = (call: Call, exchange: Exchange) => Promise<Answer | Refusal>;

/**
 * Runs one exchange of an admitted call through every control: request controls, the service that answers, answer controls. Needs no HTTP
 * request, so a batch line or a replay is governed like a call over HTTP. A whole answer is metered here; a stream is metered by whoever
 * sends it.
 */
export function governedBy(controls: Controls): Govern {
  return async (call, exchange) => {
    const { view } = exchange;
    noteView(call.row, view);
    call.beforeRecord.push(() => noteUnsent(call.row, view));
    const decided = await decidedBy(controls.request, call, view);
    if (decided !== null) return decided;
    const checks = prepared(controls.answer, call, exchange);
    const resumed = await resumedRequest(controls.request, call, view);
    return resumed ?? answered(call, exchange, checks);
  };
}

/**
 * Runs the answer controls alone, for an exchange that passed its request controls before it left in a provider's batch and whose answer
 * has arrived.
 */
export function governAnswers({ answer }: Pick<Controls, "answer">): Govern {
  return async (call, exchange) => answered(call, exchange, prepared(answer, call, exchange));
}

async function answered(call: Call, exchange: Exchange, checks: readonly AnswerCheck[]): Promise<Answer | Refusal> {
  const answer = await exchange.answer(call);
  if (isRefusal(answer)) {
    settle(call, null);
    return answer;
  }
  if (answer.kind === "whole") settle(call, answer.usage);
  const isInspected = answer.kind === "whole" && answer.status < 300 && checks.length > 0 && outputFormOfExchange(exchange) !== null;
  let checked = isInspected ? clearedWhole(answer) : answer;
  for (const check of checks) {
    const checkResult = check(checked);
    const result = checkResult instanceof Promise ? await checkResult : checkResult;
    if (isRefusal(result)) return result;
    checked = result;
  }
  return givenAs(call, exchange, checked);
}

/** The answer in the form the caller asked for, after all controls have passed it. */
function givenAs(call: Call, exchange: Exchange, answer: Answer): Answer | Refusal | Promise<Answer | Refusal> {
  if (answer.kind === "stream") {
    const form = outputFormOfExchange(exchange);
    return form === null ? answer : { ...answer, form };
  }
  return exchange.written === undefined || answer.failure !== null ? answer : exchange.written(call, answer);
}

/** Null if every control passes the call. */
async function decidedBy(controls: readonly RequestControl[], call: Call, view: RequestView): Promise<WholeAnswer | Refusal | null> {
  for (const control of controls) {
    const decided = control.decide(call, view);
    const decision = decided instanceof Promise ? await decided : decided;
    if (decision.kind === "answer") return decision.answer;
    if (decision.kind === "refuse") {
      noteRefusedBy(call.row, control, decision.refusal);
      return decision.refusal;
    }
  }
  return null;
}

/** Records the control that refused a call, for statuses that could also mean an invalid request. */
function noteRefusedBy(row: AuditRow, { name }: RequestControl, refusal: Refusal): void {
  const status = httpStatusOf(refusal);
  if (status !== 400 && status !== 413) return;
  if (refusal.code === "model_mode_mismatch") return;
  row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), refused_by: name };
}

async function resumedRequest(controls: readonly RequestControl[], call: Call, view: RequestView): Promise<Refusal | null> {
  for (const control of controls) {
    const resumed = control.resume?.(call, view) ?? null;
    const refusal = resumed instanceof Promise ? await resumed : resumed;
    if (refusal !== null) return refusal;
  }
  return null;
}

function prepared(controls: readonly AnswerControl[], call: Call, exchange: Exchange): readonly AnswerCheck[] {
  const checks: AnswerCheck[] = [];
  for (const control of controls) {
    const check = control.prepare(call, exchange);
    if (check !== null) checks.push(check);
  }
  return checks;
}

function noteView(row: AuditRow, view: RequestView): void {
  const { target } = view;
  if (target.kind !== "model") return;
  row.llm_model_requested = target.id ?? target.name;
  row.llm_streaming = view.streaming;
  row.llm_function_calling = view.tools.length > 0;
}

/** A call that was refused or answered without a model records its settings as the controls left them. */
function noteUnsent(row: AuditRow, view: RequestView): void {
  if (view.target.kind === "model" && row.prompt_fingerprint === undefined) noteSettings(row, view);
}
