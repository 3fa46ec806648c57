import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { repeatedNameRefusal } from "../../road/request/repeated-name-refusal.ts";
import { textOfStreamedAnswer, textOfWholeAnswer, wordsOfStreamedAnswer, wordsOfWholeAnswer } from "../../road/answers/answer-text.ts";
import { clearedStream } from "../../road/answers/cleared-answer.ts";
import { RecordedStream } from "../../road/answers/recorded-stream.ts";
import type { Call } from "../../road/call.ts";
import type { AnswerCheck, AnswerControl, RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { surfaceOf } from "../../road/request/content-surface.ts";
import { addTag } from "../../road/record/add-tag.ts";
import { settle } from "../../road/metering/settle.ts";
import { streamUsage } from "../../road/metering/stream-usage.ts";
import type { Exchange } from "../../road/surface.ts";
import type { Answer, StreamAnswer, WholeAnswer } from "../../road/answer.ts";
import { isNameSlot, textsAsRead } from "../../road/request/message-parts.ts";
import type { RequestView } from "../../road/view.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { bufferAnswer } from "../../road/answers/buffered-answer.ts";
import type { JudgeQuestion } from "./judge-question.ts";
import type { Policies, SemanticEnforcement } from "./semantic-enforcement.ts";

/** Bytes kept of a stream that is passed on because its policies are all in shadow mode. */
const MAX_WATCHED_BYTES = 512 * 1024;

/** An answer on its way through its policies. */
interface Passed {
  readonly call: Call;
  readonly form: OutputForm;
  /** The answer's text; null if it cannot be read. */
  readonly textOfWhole: (body: Uint8Array) => string | null;
  readonly textOfPieces: (pieces: readonly Uint8Array[]) => string;
  readonly policies: Policies;
  readonly surface: GuardrailSurface;
}

/**
 * Enforces rules in plain language by a model's verdict (docs/guides/semantic-policies.md). Requests are judged before they
 * are sent upstream, answers before the caller gets them. A shadow policy judges alongside the call and changes nothing.
 */
export class SemanticPolicies implements RequestControl, AnswerControl {
  readonly name = "semantic policies";
  private readonly enforcement: SemanticEnforcement;
  private readonly idleMs: number;

  /** `idleMs`: longest silence, in milliseconds, of a provider whose stream is held. */
  constructor(enforcement: SemanticEnforcement, idleMs: number) {
    this.enforcement = enforcement;
    this.idleMs = idleMs;
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const surface = surfaceOf(call.audit.proxySubtype, "input");
    const policies = this.enforcement.policiesOf(call, surface);
    if (surface === null || policies.length === 0) return PASS;
    const unclear = repeatedNameRefusal(view);
    if (unclear !== null) return refused(unclear);
    // Token IDs cannot be judged.
    const text = view.opaque ? null : textOf(view);
    return this.enforcement
      .apply(call, policies, surface, text)
      .then((refusal) => (refusal === null ? PASS : blocked(call, view, refusal)));
  }

  /** A stream is consumed here, so its usage is settled here too. */
  prepare(call: Call, exchange: Exchange): AnswerCheck | null {
    const reading = readingOf(exchange);
    if (reading === null) return null;
    const surface = surfaceOf(call.audit.proxySubtype, "output");
    const policies = this.enforcement.policiesOf(call, surface);
    if (surface === null || policies.length === 0) return null;
    // Values that were put back for the caller are not for the judge.
    const { hidden = (text: string) => text } = call;
    const textOfWhole = (body: Uint8Array) => {
      const text = reading.textOfWhole(body);
      return text === null ? null : hidden(text);
    };
    const textOfPieces = (pieces: readonly Uint8Array[]) => hidden(reading.textOfPieces(pieces));
    const passed: Passed = { call, form: reading.form, textOfWhole, textOfPieces, policies, surface };
    return (answer) => {
      // A cached answer was judged by the same policies when it was new.
      if (answer.status >= 300 || call.row.llm_cache_hit === true) return answer;
      return answer.kind === "whole" ? this.onWhole(passed, answer) : this.onStream(passed, answer);
    };
  }

  private async onWhole({ call, textOfWhole, policies, surface }: Passed, answer: WholeAnswer): Promise<Answer | Refusal> {
    if (answer.failure !== null) return answer;
    return (await this.enforcement.apply(call, policies, surface, textOfWhole(answer.body))) ?? answer;
  }

  private async onStream(passed: Passed, answer: StreamAnswer): Promise<Answer | Refusal> {
    const { call, form, textOfPieces, policies, surface } = passed;
    if (policies.every(({ mode }) => mode === "shadow")) return this.watched(passed, answer);
    const held = await bufferAnswer(call, await clearedStream(call, answer, form), answer.idleMs ?? this.idleMs);
    settle(call, streamUsage(answer));
    const given = isRefusal(held)
      ? held
      : ((await this.enforcement.apply(call, policies, surface, textOfPieces(held.pieces))) ?? held.answer);
    return given;
  }

  /** Passes a stream on and has it judged when it has ended; cached verdicts go onto the call's own row. */
  private watched({ call, textOfPieces, policies, surface }: Passed, answer: StreamAnswer): Answer {
    const kept = new RecordedStream(answer, MAX_WATCHED_BYTES);
    let questions: JudgeQuestion[] = [];
    call.beforeRecord.push(() => {
      if (kept.pieces === null) return;
      const text = textOfPieces(kept.pieces);
      questions = policies
        .map((policy): JudgeQuestion => ({ call, policy, surface, text }))
        .filter((question) => !this.enforcement.recalled(question));
    });
    call.whenEnded.push(() => {
      for (const question of questions) this.enforcement.watch(question);
    });
    return { ...answer, codec: kept };
  }
}

/** Whoever waits for what was blocked is told so instead, if there is anybody; otherwise the call ends. */
function blocked(call: Call, view: RequestView, refusal: Refusal): Decision {
  if (refusal.code !== "semantic_policy_block" || view.withhold === null) return refused(refusal);
  addTag(call, view.withhold());
  call.requestContent = view.content();
  return PASS;
}

function readingOf({ conversation, output }: Exchange): Pick<Passed, "form" | "textOfWhole" | "textOfPieces"> | null {
  if (conversation !== undefined)
    return {
      form: outputFormOf(conversation),
      textOfWhole: (body) => textOfWholeAnswer(conversation, body),
      textOfPieces: (pieces) => textOfStreamedAnswer(conversation, pieces),
    };
  if (output === undefined) return null;
  return {
    form: output,
    textOfWhole: (body) => wordsOfWholeAnswer(output, body),
    textOfPieces: (pieces) => wordsOfStreamedAnswer(output, pieces),
  };
}

/** Everything the model would read, each piece labelled with its role. */
function textOf(view: RequestView): string {
  const definitions = view.definitions();
  const names = new Set(definitions.filter(isNameSlot).map(({ text }) => text));
  const pieces = [
    ...definitions.filter((slot) => !isNameSlot(slot)).map(({ text }) => ["tool definition", text]),
    ...(names.size === 0 ? [] : [["names", [...names].join(", ")]]),
    ...textsAsRead(view.texts().filter(({ rulesOnly }) => rulesOnly !== true)).map(({ role, kind, text }) => [
      kind === "arguments" ? "tool arguments" : role,
      text,
    ]),
  ];
  return pieces.map(([whose, text]) => `[${whose}]\n${text}`).join("\n\n");
}
