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
 * Judges the tool calls of one answer, whole or frame by frame. Frames of a call that a policy is on wait until its
 * arguments are complete and then go on as they came; everything else passes. Once `refusal` is set nothing more may be
 * handed on, and nothing of the denied call ever was.
 */
export class ToolCallGate {
  private readonly call: Call;
  private readonly texts: AnswerTexts;
  private readonly pending = new Map<string, PendingCall>();
  /** Calls that were judged because their choice told a reason to finish: it may go on all the same. */
  private readonly finished = new Map<string, PendingCall>();
  private readonly queue: FrameQueue;
  /** Digests of calls that were judged: answers repeat them. */
  private readonly judged = new Set<string>();
  private broken = false;
  /** Whether a group was let go since frames were last released. */
  private letGo = false;
  refusal: Refusal | null = null;
  /** Whether a frame behind the break was kept back, which may have been the one that told of it. */
  withheld = false;

  constructor(call: Call, texts: AnswerTexts) {
    this.call = call;
    this.texts = texts;
    this.queue = new FrameQueue(texts.counter, (group) => this.holds(group));
  }

  /** Whether a frame that says nothing of calls may pass without being looked at. */
  get idle(): boolean {
    return this.refusal === null && this.pending.size === 0 && this.queue.idle;
  }

  /** A complete answer, read from `source`. */
  *whole(body: JsonObject, source?: Uint8Array): InTurns<Refusal | null> {
    const written = exactArguments(wholeSource(body, source));
    for (const piece of this.texts.contents(body, true).calls) yield* this.take(piece, written);
    yield* this.settle("");
    return this.refusal;
  }

  /** What may be handed on now that `frame` has come. */
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
    // A text that shares its frame with a call must not be overtaken by the texts behind it.
    const shared = calls.length > 0 && pieces.length > 0;
    const free = [...this.freed(), ...this.queue.pass(frame, groups, shared)];
    if (this.queue.overfull) yield* this.overflow();
    return this.passing([...free, ...this.freed()]);
  }

  /** A whole answer has ended: what still waited. */
  *end(): InTurns<readonly Frame[]> {
    yield* this.settle("");
    return this.passing(this.freed());
  }

  /** The provider broke the answer off: no call that was still open will ever be complete. */
  breakOff(): void {
    this.broken = true;
    this.pending.clear();
    this.queue.drop();
  }

  /** What says nothing of a call that a policy may be on. */
  private behindBreak(frame: Frame, calls: readonly CallPiece[]): readonly Frame[] {
    const kept = calls.some(({ name }) => name === null || this.isGoverned(name));
    this.withheld ||= kept;
    return kept ? [] : [frame];
  }

  private passing(frames: readonly Frame[]): readonly Frame[] {
    return this.refusal === null ? frames : [];
  }

  /** Frames that waited for what was let go meanwhile. */
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
      // What has no name of its own goes on with the call that was there.
      pending =
        (piece.name === null ? this.finished.get(piece.channel) : undefined) ??
        new PendingCall(piece.group, (name) => this.isGoverned(name));
      this.pending.set(piece.channel, pending);
    }
    const { held } = pending;
    pending.add(piece, written);
    this.letGo ||= held && !pending.held;
  }

  /** Judges the calls of the groups that begin with `prefix`: they are complete. Returns the groups. */
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

  /** More is waiting than may: the calls that wait cannot be judged. */
  private *overflow(): InTurns<void> {
    for (const pending of this.pending.values()) {
      if (!pending.held) continue;
      pending.giveUp("The call is too large to be judged.");
      // One that nobody named cannot be told from one a policy is on.
      if (pending.governedNames.length === 0)
        this.refusal ??= refuse("upstream_invalid_response", "The model's provider sent a tool call without a name.");
      this.refusal ??= yield* this.judge(pending);
      pending.letPass();
      this.letGo = true;
    }
  }
}
