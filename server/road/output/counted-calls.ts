import type { Refusal } from "../../kernel/errors.ts";
import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { Answer, StreamAnswer } from "../answer.ts";
import type { Call } from "../call.ts";
import { contentWorkOf } from "../policy/content-work.ts";
import { CallCount } from "./call-count.ts";
import { FramedStream } from "./framed-stream.ts";
import type { Frame } from "./frames.ts";
import { passedHead } from "./wrapped-stream.ts";

/** Called with the number of tool calls each time the answer makes more; returns the refusal that ends the answer, or null. */
export type CallsAllowed = (made: number) => Refusal | null;

/** The number of tool calls in a whole answer; null if it cannot be read. */
export function toolCallsMade({ texts }: OutputForm, body: Uint8Array): number | null {
  const answer = replyObject(body);
  if (answer === null) return null;
  const count = new CallCount();
  count.add(texts.contents(answer, true));
  return count.made;
}

/** The stream, ended by a refusal at the first tool call that is not allowed. */
export function upToToolCallCap(call: Call, form: OutputForm, answer: StreamAnswer, allowed: CallsAllowed): Answer | Promise<Answer> {
  const codec = new CountedStream(answer.codec, form, allowed);
  const from = (head: readonly Uint8Array[]): StreamAnswer => ({
    ...answer,
    codec,
    head,
    refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal,
  });
  const head = inTurns(passedHead(codec, answer.head), contentWorkOf(call));
  return head instanceof Promise ? head.then(from) : from(head);
}

/** A cheap pre-check for pieces that may contain a call. Covers escaped letters of a member name, although no vendor escapes them. */
const CALL = /call|tool|\r|\\u00[4-7]/i;

class CountedStream extends FramedStream {
  private readonly texts: OutputForm["texts"];
  private readonly events: boolean;
  private readonly allowed: CallsAllowed;
  private readonly count = new CallCount();
  private atBoundary = true;
  refusal: Refusal | null = null;

  constructor(inner: StreamCodec, { texts, framing }: OutputForm, allowed: CallsAllowed) {
    super(inner, framing);
    this.texts = texts;
    this.events = framing === "events";
    this.allowed = allowed;
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
    const before = this.count.made;
    if (body !== null) this.count.add(this.texts.contents(body, false));
    if (this.count.made > before) this.refusal = this.allowed(this.count.made);
    return this.refusal === null;
  }
}
