import { isRefusal } from "../../../kernel/errors.ts";
import { inTurns } from "../../../kernel/scheduling/in-turns.ts";
import type { Answer, StreamAnswer } from "../../../road/answer.ts";
import type { Call } from "../../../road/call.ts";
import type { AnswerCheck, AnswerControl } from "../../../road/control.ts";
import { outputFormOfExchange } from "../../../road/output/answer-formats.ts";
import { passedHead } from "../../../road/output/wrapped-stream.ts";
import { contentWorkOf } from "../../../road/policy/content-work.ts";
import type { Exchange } from "../../../road/surface.ts";
import { writtenWithExactTools } from "../../../wire/json/exact-tools.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import type { OutputForm } from "../../../wire/output-form.ts";
import { AnswerGuard } from "../answers/answer-guard.ts";
import { GuardedStream } from "../answers/guarded-stream.ts";
import { GuardRun } from "../guard-run.ts";
import type { SurfaceGuard } from "../surface-guard.ts";
import type { Detector } from "../text/detector.ts";
import { scan } from "../text/scan.ts";
import type { GivenPlaceholders } from "./given-placeholders.ts";
import { placeholderForm } from "./placeholder-form.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

const given = new WeakMap<Call, GivenPlaceholders>();

/** Has the values put back into the call's answer, and kept out of its record. */
export function noteGivenPlaceholders(call: Call, placeholders: GivenPlaceholders): void {
  given.set(call, placeholders);
  call.hidden = placeholders.hide;
}

/**
 * Puts the values of placeholders that a guardrail gave on the request back into the model's answer, for the caller. The search for
 * placeholders is that of guardrails for values, so everything that holds for redacting a stream holds here too.
 */
export const restoredValues: AnswerControl = {
  name: "restored values",
  prepare(call: Call, exchange: Exchange): AnswerCheck | null {
    const placeholders = given.get(call);
    const form = placeholders === undefined ? null : outputFormOfExchange(exchange);
    if (placeholders === undefined || form === null) return null;
    return (answer) => (answer.status >= 300 ? answer : restored(call, form, placeholders, answer));
  },
};

async function restored(call: Call, { texts, framing }: OutputForm, placeholders: GivenPlaceholders, answer: Answer): Promise<Answer> {
  const run = new GuardRun(PLACEHOLDERS, contentWorkOf(call), placeholders.restore);
  const guard = new AnswerGuard(texts, run);
  if (answer.kind === "whole") {
    const body = replyObject(answer.body);
    const isChanged = body !== null && (await inTurns(guard.whole(body, answer.body), run.work));
    if (!isChanged || isRefusal(guard.refusal)) return answer;
    return { ...answer, body: encoder.encode(writtenWithExactTools(body, decoder.decode(answer.body))) };
  }
  const codec = new RestoredStream(answer.codec, guard, framing);
  const head = await inTurns(passedHead(codec, answer.head), run.work);
  return { ...answer, codec, head, refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal } satisfies StreamAnswer;
}

class RestoredStream extends GuardedStream {
  /** For the row, which keeps the placeholders. */
  override get providerError(): string | null {
    return this.inner.providerError;
  }
}

/** The end of a text that may become a placeholder. */
const BEGUN = /\[[A-Z_]{0,42}\d{0,7}$/;

const placeholder: Detector = {
  check: "pii",
  maxLength: 51,
  reads: "as it is",
  find: (text, from, to) => {
    const form = placeholderForm();
    return scan(text, form, from, to, (start) => ({ category: "placeholder", start, end: form.lastIndex, score: 1 }));
  },
  openFrom(text) {
    const from = text.lastIndexOf("[");
    return from >= 0 && BEGUN.test(text.slice(from)) ? from : text.length;
  },
};

/** Shared by all calls, so that texts without placeholders are remembered. */
const rules = [{ detector: placeholder, action: "redact", threshold: 0 }] as const;
const PLACEHOLDERS: SurfaceGuard = {
  surface: "chat_output",
  guard: { rules },
  trusted: { rules },
  engines: [],
  enforces: false,
  version: "",
};
