import { type Refusal, refuse } from "../../kernel/errors.ts";
import { type InTurns, inTurns } from "../../kernel/in-turns.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/stream.ts";
import type { StreamAnswer } from "../../road/answer.ts";
import { contentWorkOf } from "../../road/content-work.ts";
import type { AnswerControl } from "../../road/control.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import { FramedStream } from "../../road/output/framed-stream.ts";
import type { Frame } from "../../road/output/frames.ts";
import { passedHead } from "../../road/output/wrapped-stream.ts";
import { governanceOf } from "../../road/parameter-governance.ts";
import { modelOf } from "../../road/target.ts";
import { CallCount } from "./call-count.ts";

/** What a piece of a stream must hold for a call to be in it. */
const CALL = /call|tool|\r/i;

/** Holds an answer to the tool calls that one answer may make (interface 8.3): of one that makes more, the caller gets none further. */
export const toolCallCap: AnswerControl = {
  name: "tool call cap",
  prepare(call, { conversation }) {
    const model = modelOf(call);
    if (conversation === undefined || model === null || call.scope === null) return null;
    const { maxToolCalls } = governanceOf(call, model);
    if (maxToolCalls === null) return null;
    const form = outputFormOf(conversation);
    return (answer) => {
      if (answer.status >= 300) return answer;
      if (answer.kind === "whole") {
        const body = replyObject(answer.body);
        if (body === null) return refuse("upstream_invalid_response");
        const count = new CallCount();
        count.add(form.texts.contents(body, true));
        return count.made > maxToolCalls ? tooMany(maxToolCalls) : answer;
      }
      const codec = new CappedStream(answer.codec, form, maxToolCalls);
      const from = (head: readonly Uint8Array[]): StreamAnswer => ({
        ...answer,
        codec,
        head,
        refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal,
      });
      const head = inTurns(passedHead(codec, answer.head), contentWorkOf(call));
      return head instanceof Promise ? head.then(from) : from(head);
    };
  },
};

function tooMany(most: number): Refusal {
  return refuse("tool_call_limit_exceeded", `The model made more than ${most} tool ${most === 1 ? "call" : "calls"} in one answer.`);
}

/** A stream up to the tool call that is one too many. */
class CappedStream extends FramedStream {
  private readonly texts: OutputForm["texts"];
  private readonly events: boolean;
  private readonly most: number;
  private readonly count = new CallCount();
  private atBoundary = true;
  refusal: Refusal | null = null;

  constructor(inner: StreamCodec, { texts, framing }: OutputForm, most: number) {
    super(inner, framing);
    this.texts = texts;
    this.events = framing === "events";
    this.most = most;
  }

  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    if (piece === null || this.refusal !== null) return null;
    if (this.events) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
      const whole = text.endsWith("\n\n");
      if (whole && this.atBoundary && !CALL.test(text)) return piece;
      this.atBoundary = whole;
    }
    const out: Frame[] = [];
    for (const frame of this.framing.push(piece)) {
      if (!this.passes(frame)) break;
      out.push(frame);
      yield;
    }
    return this.written(out);
  }

  *ending(): InTurns<StreamEnding> {
    const { complete, last, errorReported } = yield* this.innerEnding();
    const pieces = [yield* this.passing(last)];
    const rest = this.framing.rest();
    if (rest !== null && this.passes(rest)) pieces.push(this.written([rest]));
    return this.refusal === null
      ? { complete, last: this.joined(pieces), errorReported }
      : { complete: false, last: null, errorReported: false };
  }

  private passes({ body }: Frame): boolean {
    if (this.refusal !== null) return false;
    if (body !== null) this.count.add(this.texts.contents(body, false));
    if (this.count.made > this.most) this.refusal = tooMany(this.most);
    return this.refusal === null;
  }
}
