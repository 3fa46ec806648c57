import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import { writtenWithExactTools } from "../../wire/json/exact-tools.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { Call } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "../../road/control.ts";
import { type Decision, PASS } from "../../road/decision.ts";
import { settle } from "../../road/metering/settle.ts";
import { outputFormOfExchange } from "../../road/output/answer-formats.ts";
import { passedHead } from "../../road/output/wrapped-stream.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { callersTexts } from "./callers-texts.ts";
import { AnswerGuard } from "./answers/answer-guard.ts";
import { GuardedStream } from "./answers/guarded-stream.ts";
import { streamUsage } from "../../road/metering/stream-usage.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import type { Exchange } from "../../road/surface.ts";
import type { Answer, StreamAnswer, WholeAnswer } from "../../road/answer.ts";
import type { RequestView } from "../../road/view.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardRunOf } from "./guard-run-of.ts";
import { guardInputRestorably, isRestored } from "./restoring/restorable-input.ts";

export interface GuardrailParts extends EngineParts {
  /** Longest silence, in milliseconds, of a provider whose stream is held. */
  readonly idleMs: number;
}

/** Headers that are only a content type, number, duration or date, with no room for anything else. */
const PLAIN_HEADER =
  /^(?:(?:application\/json|text\/event-stream)(?:; ?charset=utf-8)?|[\d.hms]{1,12}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)?)$/i;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Guardrails on what is sent to a model and on its answer (docs/guides/guardrails.md). */
export class Guardrails implements RequestControl, AnswerControl {
  readonly name = "guardrails";
  private readonly parts: GuardrailParts;

  constructor(parts: GuardrailParts) {
    this.parts = parts;
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const run = guardRunOf(call, "input");
    if (run === null) return PASS;
    return isRestored(call, run.surface)
      ? guardInputRestorably(call, view, run.surface, this.parts)
      : guardInput(call, view, run, this.parts);
  }

  /** The check between the model's answer and the caller. */
  prepare(call: Call, exchange: Exchange): AnswerCheck | null {
    const form = outputFormOfExchange(exchange);
    const run = form === null ? null : guardRunOf(call, "output");
    if (form === null || run === null) return null;
    call.beforeRecord.push(() => run.report(call));
    return async (given) => {
      const answer = await this.withoutFoundHeaders(call, run, given);
      if (isRefusal(answer)) return answer;
      if (answer.status >= 300) return answer.kind === "whole" ? this.onFailure(call, run, answer) : answer;
      const guard = new AnswerGuard(form.texts, run, callersTexts(call, exchange));
      return answer.kind === "whole" ? this.onWhole(call, form, guard, run, answer) : this.onStream(call, form, guard, run, answer);
    };
  }

  /** Removes headers with findings: providers may put any text into headers. */
  private async withoutFoundHeaders(call: Call, run: GuardRun, answer: Answer): Promise<Answer | Refusal> {
    const { headers } = answer;
    let kept = headers;
    for (const [name, value] of Object.entries(headers)) {
      if (PLAIN_HEADER.test(value)) continue;
      const inspection = inTurns(run.text(value), run.work);
      if ((inspection instanceof Promise ? await inspection : inspection) === value) continue;
      kept = { ...kept };
      // Without its parameters the content type still describes the answer.
      if (name === "content-type") kept[name] = value.split(";")[0] as string;
      else delete kept[name];
    }
    const refusal = run.refusal();
    if (refusal !== null && answer.kind === "stream") {
      void cancelQuietly(answer.upstream);
      settle(call, streamUsage(answer));
    }
    return refusal ?? (kept === headers ? answer : { ...answer, headers: kept });
  }

  /** A provider's error message often repeats the request. */
  private async onFailure(call: Call, run: GuardRun, answer: WholeAnswer): Promise<Answer | Refusal> {
    run.noteInspected();
    const decoded = decoder.decode(answer.body);
    const inspection = inTurns(run.json(decoded), run.work);
    const out = inspection instanceof Promise ? await inspection : inspection;
    run.warn(call);
    return run.refusal() ?? (out === decoded ? answer : { ...answer, body: encoder.encode(out) });
  }

  private async onWhole(call: Call, form: OutputForm, guard: AnswerGuard, run: GuardRun, answer: WholeAnswer): Promise<Answer | Refusal> {
    const body = replyObject(answer.body);
    if (body === null) return answer;
    const inspection = inTurns(guard.whole(body, answer.body), run.work);
    let changed = inspection instanceof Promise ? await inspection : inspection;
    const redactFound = (beside: GuardRun) => new AnswerGuard(form.texts, beside).whole(body, answer.body);
    if (guard.refusal === null && (await askEngines(this.parts, run, call, "output", guard.inspectedText, redactFound))) changed = true;
    run.warn(call);
    return (
      guard.refusal ?? (changed ? { ...answer, body: encoder.encode(writtenWithExactTools(body, decoder.decode(answer.body))) } : answer)
    );
  }

  private async onStream(
    call: Call,
    { framing, texts }: OutputForm,
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
    if (isRefusal(held)) return held;
    let given = held.answer;
    const redactFound = function* (beside: GuardRun) {
      const inner = new GuardedStream(given.codec, new AnswerGuard(texts, beside), framing);
      const passed = yield* passedHead(inner, given.head);
      const ended = yield* inner.ending();
      given = { ...given, head: passed, codec: { ...given.codec, end: () => ended } };
    };
    if (guard.refusal === null) await askEngines(this.parts, run, call, "output", guard.inspectedText, redactFound);
    return guard.refusal ?? given;
  }
}
