import { type Refusal, refuse } from "../../kernel/errors.ts";
import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { AnswerTexts, CallPiece } from "../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { exactArguments, wholeSource } from "../../wire/json/exact-tools.ts";
import type { Call } from "../../road/call.ts";
import type { Frame } from "../../road/output/frames.ts";
import { governToolCall } from "./govern-tool-call.ts";
import { FrameQueue } from "./frame-queue.ts";
import { PendingCall } from "./pending-call.ts";

/**
 * Judges the tool calls of one answer, whole or frame by frame. Frames of a call with a policy wait until its
 * arguments are complete and are then passed on unchanged; everything else passes. Once `refusal` is set nothing more
 * may be passed on, and nothing of the denied call ever was.
 */
export class ToolCallGate {
  private readonly call: Call;
  private readonly texts: AnswerTexts;
  private readonly pending = new Map<string, PendingCall>();
  /** Calls judged when their choice reported a finish reason; they may nevertheless continue. */
  private readonly finished = new Map<string, PendingCall>();
  private readonly queue: FrameQueue;
  /** Digests of judged calls, because answers repeat them. */
  private readonly judged = new Set<string>();
  private broken = false;
  /** Whether a group was released since frames were last freed. */
  private letGo = false;
  refusal: Refusal | null = null;
  /** Whether a frame after the break was withheld, which may have been the one reporting the error. */
  withheld = false;

  constructor(call: Call, texts: AnswerTexts) {
    this.call = call;
    this.texts = texts;
    this.queue = new FrameQueue(texts.counter, (group) => this.holds(group));
  }

  /** Whether a frame without tool calls may pass uninspected. */
  get idle(): boolean {
    return this.refusal === null && this.pending.size === 0 && this.queue.idle;
  }

  /** A complete answer; `source` is its exact JSON. */
  *whole(body: JsonObject, source?: Uint8Array): InTurns<Refusal | null> {
    const written = exactArguments(wholeSource(body, source));
    for (const piece of this.texts.contents(body, true).calls) yield* this.take(piece, written);
    yield* this.settle("");
    return this.refusal;
  }

  /** The frames that may be passed on after `frame` has arrived. */
  *frame(frame: Frame): InTurns<readonly Frame[]> {
    if (this.refusal !== null) return [];
    if (frame.body === null) return frame.closes ? [...(yield* this.end()), frame] : [frame];
    const { calls, pieces, ends, finishes } = this.texts.contents(frame.body, false);
    if (this.broken) return this.behindBreak(frame, calls);
    const groups = new Set<string>();
    const written = exactArguments(frame);
    for (const piece of calls) {
      yield* this.take(piece, written);
      groups.add(piece.group);
    }
    for (const prefix of ends) for (const group of yield* this.settle(prefix, finishes.includes(prefix))) groups.add(group);
    // A text that shares its frame with a call must not be overtaken by later texts.
    const shared = calls.length > 0 && pieces.length > 0;
    const free = [...this.freed(), ...this.queue.pass(frame, groups, shared)];
    if (this.queue.overfull) yield* this.overflow();
    return this.passing([...free, ...this.freed()]);
  }

  /** The answer is complete: returns the frames that still wait. */
  *end(): InTurns<readonly Frame[]> {
    yield* this.settle("");
    return this.passing(this.freed());
  }

  /** The provider broke off the answer: open calls will never be complete. */
  breakOff(): void {
    this.broken = true;
    this.pending.clear();
    this.queue.drop();
  }

  /** Passes only frames without calls that may have a policy. */
  private behindBreak(frame: Frame, calls: readonly CallPiece[]): readonly Frame[] {
    const kept = calls.some(({ name }) => name === null || this.isGoverned(name));
    this.withheld ||= kept;
    return kept ? [] : [frame];
  }

  private passing(frames: readonly Frame[]): readonly Frame[] {
    return this.refusal === null ? frames : [];
  }

  /** Frames that waited for what has been released meanwhile. */
  private freed(): readonly Frame[] {
    if (!this.letGo) return [];
    this.letGo = false;
    return this.queue.release();
  }

  private holds(group: string): boolean {
    for (const call of this.pending.values()) if (call.held && call.group === group) return true;
    return false;
  }

  private isGoverned(name: string): boolean {
    return this.call.scope?.toolCallPolicies.has(toolSpelling(name)) === true;
  }

  private *take(piece: CallPiece, written: (value: unknown) => string): InTurns<void> {
    let pending = this.pending.get(piece.channel);
    if (pending !== undefined && piece.name !== null && pending.endsBefore(piece)) {
      this.letGo ||= pending.held;
      this.refusal ??= yield* this.judge(pending);
      pending = pending.next(piece.name);
      this.pending.set(piece.channel, pending);
    } else if (pending === undefined) {
      // A piece without a name continues the previous call.
      pending =
        (piece.name === null ? this.finished.get(piece.channel) : undefined) ??
        new PendingCall(piece.group, (name) => this.isGoverned(name));
      this.pending.set(piece.channel, pending);
    }
    const { held } = pending;
    pending.add(piece, written);
    this.letGo ||= held && !pending.held;
  }

  /** Judges the complete calls, which are those of groups beginning with `prefix`; returns the groups. */
  private *settle(prefix: string, mayGoOn = false): InTurns<Set<string>> {
    const groups = new Set<string>();
    for (const [channel, pending] of this.pending) {
      if (!pending.group.startsWith(prefix)) continue;
      groups.add(pending.group);
      this.pending.delete(channel);
      if (mayGoOn) this.finished.set(channel, pending);
      this.letGo ||= pending.held;
      if (this.refusal === null) this.refusal = yield* this.judge(pending);
    }
    return groups;
  }

  private *judge(pending: PendingCall): InTurns<Refusal | null> {
    for (const name of pending.governedNames) {
      for (const text of pending.texts()) {
        const digest = typeof text === "string" ? sha256Hex(JSON.stringify([name, text])) : null;
        if (digest !== null && this.judged.has(digest)) continue;
        const refusal = yield* governToolCall(this.call, name, text);
        if (refusal !== null) return refusal;
        if (digest !== null) this.judged.add(digest);
      }
    }
    return null;
  }

  /** Too much is waiting: gives up on judging the calls that wait. */
  private *overflow(): InTurns<void> {
    for (const pending of this.pending.values()) {
      if (!pending.held) continue;
      pending.giveUp("The call is too large to be judged.");
      // A call without a name may have a policy.
      if (pending.governedNames.length === 0)
        this.refusal ??= refuse("upstream_invalid_response", "The model's provider sent a tool call without a name.");
      this.refusal ??= yield* this.judge(pending);
      pending.letPass();
      this.letGo = true;
    }
  }
}
