import type { Refusal } from "../../kernel/errors.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { Call } from "../call.ts";
import type { RequestControl } from "../control.ts";
import { PASS } from "../decision.ts";
import { AnswerGuard } from "../output/answer-guard.ts";
import { GuardedStream } from "../output/guarded-stream.ts";
import type { Answer, Exchange, OutputForm, StreamAnswer, WholeAnswer } from "../surface.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { surfaceGuard } from "./surface-guard.ts";
import { surfaceOf } from "./surfaces.ts";

const encoder = new TextEncoder();

/** Guardrails on what goes to a model. */
export const inputGuardrails: RequestControl = {
  name: "guardrails",
  decide(call, view) {
    const run = runOf(call, "input");
    return run === null ? PASS : guardInput(call, view, run);
  },
};

/** Passes an answer on, changed or not, or refuses it. */
type GuardedAnswer = (answer: Answer) => Answer | Refusal;

/**
 * Guardrails on what the model will answer; null where there are none. Made before the call leaves, so that what cannot
 * be made ready lets nothing leave.
 */
export function outputGuard(call: Call, { output }: Exchange): GuardedAnswer | null {
  if (output === undefined || output === null) return null;
  const run = runOf(call, "output");
  if (run === null) return null;
  const tell = () => run.tell(call.row);
  return (answer) => {
    if (answer.status >= 300) return answer;
    const guard = new AnswerGuard(output.texts, run, null);
    return answer.kind === "whole" ? guardWhole(answer, guard, tell) : guardStream(answer, output, guard, tell);
  };
}

function guardWhole(answer: WholeAnswer, guard: AnswerGuard, tell: () => void): Answer | Refusal {
  const body = replyObject(answer.body);
  if (body === null) return answer;
  const changed = guard.whole(body);
  tell();
  return guard.refusal ?? (changed ? { ...answer, body: encoder.encode(JSON.stringify(body)) } : answer);
}

function guardStream(answer: StreamAnswer, form: OutputForm, guard: AnswerGuard, tell: () => void): Answer {
  const codec = new GuardedStream(answer.codec, guard, form.framing);
  const head = answer.head.map((piece) => codec.pass(piece)).filter((piece) => piece !== null);
  return { ...answer, codec, head, refusal: () => codec.refusal, beforeRecord: tell };
}

function runOf({ scope, audit }: Call, direction: "input" | "output"): GuardRun | null {
  const surface = scope === null || scope.tenant.guardrails.length === 0 ? null : surfaceOf(audit.proxySubtype, direction);
  const guard = scope === null || surface === null ? null : surfaceGuard(scope, surface);
  return guard === null ? null : new GuardRun(guard);
}
