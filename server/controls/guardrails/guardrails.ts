import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { inTurns } from "../../kernel/in-turns.ts";
import { writtenWithExactTools } from "../../wire/exact-tools.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { Call } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "../../road/control.ts";
import { type Decision, PASS } from "../../road/decision.ts";
import { settle } from "../../road/metering/settle.ts";
import { outputFormOfExchange } from "../../road/output/answer-formats.ts";
import { passedHead } from "../../road/output/wrapped-stream.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { AnswerGuard } from "./answer-guard.ts";
import { GuardedStream } from "./guarded-stream.ts";
import { streamUsage } from "../../road/metering/stream-usage.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import type { Exchange } from "../../road/surface.ts";
import type { Answer, StreamAnswer, WholeAnswer } from "../../road/answer.ts";
import type { RequestView } from "../../road/view.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardRunOf } from "./guard-run-of.ts";

export interface GuardrailParts extends EngineParts {
  /** Longest silence of a provider whose stream is held. */
  readonly idleMs: number;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Guardrails on what goes to a model and on what comes back (docs/guides/guardrails.md). */
export class Guardrails implements RequestControl, AnswerControl {
  readonly name = "guardrails";
  private readonly parts: GuardrailParts;

  constructor(parts: GuardrailParts) {
    this.parts = parts;
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const run = guardRunOf(call, "input");
    return run === null ? PASS : guardInput(call, view, run, this.parts);
  }

  /** What stands between the model and the caller. */
  prepare(call: Call, exchange: Exchange): AnswerCheck | null {
    const form = outputFormOfExchange(exchange);
    const run = form === null ? null : guardRunOf(call, "output");
    if (form === null || run === null) return null;
    call.beforeRecord.push(() => run.tell(call));
    return (answer) => {
      if (answer.status >= 300) return answer;
      const guard = new AnswerGuard(form.texts, run);
      return answer.kind === "whole" ? this.onWhole(call, guard, run, answer) : this.onStream(call, form, guard, run, answer);
    };
  }

  private async onWhole(call: Call, guard: AnswerGuard, run: GuardRun, answer: WholeAnswer): Promise<Answer | Refusal> {
    const body = replyObject(answer.body);
    if (body === null) return answer;
    const looking = inTurns(guard.whole(body), run.work);
    const changed = looking instanceof Promise ? await looking : looking;
    if (guard.refusal === null) await askEngines(this.parts, run, call, "output", guard.said);
    run.warn(call);
    return (
      guard.refusal ?? (changed ? { ...answer, body: encoder.encode(writtenWithExactTools(body, decoder.decode(answer.body))) } : answer)
    );
  }

  private async onStream(
    call: Call,
    { framing }: OutputForm,
    guard: AnswerGuard,
    run: GuardRun,
    answer: StreamAnswer,
  ): Promise<Answer | Refusal> {
    const codec = new GuardedStream(answer.codec, guard, framing);
    const head = await inTurns(passedHead(codec, answer.head), run.work);
    const guarded: StreamAnswer = { ...answer, codec, head, refusal: () => codec.refusal };
    if (run.surface.engines.length === 0) return guarded;
    const held = await bufferAnswer(call, guarded, answer.idleMs ?? this.parts.idleMs);
    settle(call, streamUsage(guarded));
    if (!isRefusal(held) && guard.refusal === null) await askEngines(this.parts, run, call, "output", guard.said);
    return isRefusal(held) ? held : (guard.refusal ?? held.answer);
  }
}
