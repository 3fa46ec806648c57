import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { InTurns } from "../../../kernel/scheduling/in-turns.ts";
import type { AnswerContents, AnswerTexts, CallPiece, TextPiece } from "../../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { wholeSource } from "../../../wire/json/exact-tools.ts";
import type { IsCallersText } from "../../../wire/texts/other-answer-texts.ts";
import { hasWords } from "../../../wire/texts/other-texts.ts";
import type { GuardRun } from "../guard-run.ts";
import type { TextChannel } from "./text-channel.ts";
import { FrameCounter } from "./frame-counter.ts";
import { AdjoiningFrames } from "./adjoining-frames.ts";
import { guardedName } from "../names.ts";
import { redactText } from "../redact.ts";
import { withoutFoundLines } from "./frame-lines.ts";
import { continuationOf } from "./continuation.ts";
import { KnownShape, onlyPiece } from "./known-shape.ts";
import { OtherMembers } from "./other-members.ts";
import { RedactedTexts } from "./redacted-texts.ts";
import { wholeTexts } from "./whole-texts.ts";
import { type FrameShape, ShapedFrame } from "../../../road/output/frame-shape.ts";
import type { Frame } from "../../../road/output/frames.ts";
import { CallGroup } from "../../../road/output/buffered-tool-calls.ts";

/** Total characters of remembered whole texts: answers repeat their texts, and inspecting them once is enough. */
const MAX_REMEMBERED = 1_000_000;
/** Most texts and calls of a stream that may be open at once, each of which is ended separately. No caller asks for as many. */
const MAX_OPEN = 1_000;
/** Characters already sent that are inspected together with the next block of their flow. */
const BEFORE = 256;

/**
 * Guards everything a caller would read in an answer, whole or frame by frame. Texts are held back as far as a
 * guardrail needs and sent on redacted; tool calls wait until their arguments are complete. Unchanged frames are sent
 * as received. Once `refusal` is set, nothing more may be sent.
 */
export class AnswerGuard {
  private readonly texts: AnswerTexts;
  private readonly run: GuardRun;
  private readonly others: OtherMembers;
  private readonly counter: FrameCounter;
  private readonly known: KnownShape;
  private readonly channels = new Map<string, TextChannel>();
  private readonly groups = new Map<string, CallGroup>();
  private readonly wholes = new Map<string, string>();
  /** The end of what has been sent, by flow. */
  private readonly flows = new Map<string, string>();
  private readonly redactedTexts: RedactedTexts;
  private remembered = 0;
  /** A frame with a finish reason; only the next frame shows whether its texts end with it. */
  private finishing: { readonly frame: Frame; readonly contents: AnswerContents } | null = null;
  private readonly finished = new Set<string>();
  /** A whole answer has no later frames that repeat it. */
  private isWhole = false;
  private refused: Refusal | null = null;
  private received = "";

  /** `isCallersText` tells whether a text of the answer only repeats the request. */
  constructor(texts: AnswerTexts, run: GuardRun, isCallersText: IsCallersText = () => false) {
    this.texts = texts;
    this.run = run;
    this.redactedTexts = new RedactedTexts((before) => run.hold(before));
    this.others = new OtherMembers(texts, run, isCallersText);
    this.counter = new FrameCounter(texts.counter);
    this.known = new KnownShape(texts.counter === null);
  }

  get refusal(): Refusal | null {
    return this.refused ?? this.run.refusal();
  }

  /** All text as sent, collected only if an engine is to be asked about it. */
  get inspectedText(): string {
    return this.received;
  }

  /** Redacts text that is reported elsewhere than in the answer; empty up to and after a blocking finding. */
  readonly redacted = (text: string): string => redactText(this.run.surface.guard, text).text;

  /** The shape of the newest frame, if others like it need not be parsed; null while earlier frames are undecided. */
  readonly shape = (): FrameShape | null => (this.isDecided ? this.known.shape : null);

  /** Guards a complete answer in place; `source` is its exact JSON. Returns whether the body was changed. */
  *whole(body: JsonObject, source?: Uint8Array): InTurns<boolean> {
    this.run.noteInspected();
    const frame: Frame = Object.assign(wholeSource(body, source), { bytes: new Uint8Array(0), body, closes: false, changed: false });
    this.isWhole = true;
    yield* this.guarded(frame, wholeTexts(this.contents(body, true)));
    return frame.changed;
  }

  /** The frames that may be sent after `frames` have arrived. */
  *frames(frames: Iterable<Frame>): InTurns<Frame[]> {
    const out: Frame[] = [];
    let together: AdjoiningFrames | null = null;
    for (const came of frames) {
      const isShaped = came instanceof ShapedFrame;
      const frame = isShaped || (came.body !== null && came.beside === undefined) ? came : yield* withoutFoundLines(came, this.run);
      if (frame === null) continue;
      const contents = isShaped || frame.body === null || frame.closes ? null : this.contents(frame.body, false);
      const piece = isShaped ? this.known.piece : contents === null || !this.isDecided ? null : onlyPiece(contents);
      if (!isShaped) this.known.learn(frame, piece, (body) => this.contents(body, false));
      if (together !== null && piece?.channel === together.channel) {
        together.add(frame, piece);
        continue;
      }
      if (together !== null) out.push(...(yield* this.adjoining(together)));
      together = piece === null ? null : new AdjoiningFrames(frame, piece);
      if (together === null) out.push(...(yield* this.frame(frame, contents)));
    }
    if (together !== null) out.push(...(yield* this.adjoining(together)));
    return out;
  }

  private contents(body: JsonObject, whole: boolean): AnswerContents {
    const contents = this.others.contents(body, whole);
    if (contents.tooDeep && this.run.surface.enforces)
      this.refused = refuse("upstream_invalid_response", "The model's provider sent an answer that goes deeper than can be looked at.");
    return contents;
  }

  private *frame(frame: Frame, contents: AnswerContents | null): InTurns<Frame[]> {
    if (this.refusal !== null) return [];
    if (frame.closes) return [...(yield* this.end()), frame];
    if (contents === null) return [frame];
    this.run.noteInspected();
    if (this.channels.size + this.groups.size + contents.pieces.length > MAX_OPEN)
      this.refused = refuse("upstream_invalid_response", "The model's provider told more texts and calls at once than can be looked at.");
    if (this.refused !== null) return [];
    const before = yield* this.finish(contents);
    if (this.refusal !== null) return [];
    if (contents.finishes.length === 0) return this.counter.count([...before, ...(yield* this.guarded(frame, contents))]);
    this.finishing = { frame, contents };
    return this.counter.count(before);
  }

  /** Whether a frame can be judged without regard to earlier ones. */
  private get isDecided(): boolean {
    return this.finishing === null && this.finished.size === 0 && this.channels.size + this.groups.size < MAX_OPEN;
  }

  private *adjoining(together: AdjoiningFrames): InTurns<Frame[]> {
    if (this.refusal !== null) return [];
    this.run.noteInspected();
    const { text } = together;
    const channel = this.channels.get(together.channel) ?? (yield* this.opened(together.piece, together.frame));
    channel.latest = together.frame;
    channel.piece = together.piece;
    const before = channel.hold.waiting;
    const out = yield* this.run.push(channel.hold, text, false);
    this.left(channel, text, out);
    const saying = together.fill(out, before);
    return this.counter.count(this.run.blocked === null ? together.frames : saying);
  }

  /** The stream has ended: returns what was held. */
  *end(): InTurns<Frame[]> {
    if (this.refusal !== null) return [];
    return this.counter.count([...(yield* this.finish(null)), ...(yield* this.ended([""], null, []))]);
  }

  /**
   * Releases the frame with a finish reason, now that `next` (null: the end) is known. If a text continues in `next`, it
   * had not ended: what is held of it stays held, so that no value is split across the finish reason.
   */
  private *finish(next: AnswerContents | null): InTurns<Frame[]> {
    if (this.finishing === null && this.finished.size === 0) return [];
    const continues = (prefix: string, others = true) =>
      next !== null &&
      (next.pieces.some(
        ({ channel, holder, key, other }) => (others || other !== true) && channel.startsWith(prefix) && holder[key] !== "",
      ) ||
        next.calls.some(({ group }) => group.startsWith(prefix)));
    // Members outside the format may change after the end.
    if (this.run.surface.enforces && [...this.finished].some((prefix) => continues(prefix, false)))
      this.refused = refuse("upstream_invalid_response", "The model's provider went on with an answer that it had ended.");
    const { finishing } = this;
    this.finishing = null;
    if (finishing === null || this.refusal !== null) return [];
    const { frame, contents } = finishing;
    const taken = new Set(contents.finishes.filter((prefix) => continues(prefix)));
    for (const prefix of contents.finishes) if (!taken.has(prefix)) this.finished.add(prefix);
    return yield* this.guarded(frame, {
      pieces: contents.pieces,
      wholes: contents.wholes,
      calls: contents.calls,
      others: contents.others,
      finishes: [],
      tokens: contents.tokens,
      passages: contents.passages,
      ends: contents.ends.filter((prefix) => !taken.has(prefix)),
    });
  }

  private *guarded(frame: Frame, contents: AnswerContents): InTurns<Frame[]> {
    const movePassages = contents.passages.length === 0 ? null : this.redactedTexts.follow(contents, this.isWhole);
    yield* this.guardPieces(frame, contents, this.run);
    // After a block, other contents of the frame were not inspected.
    if (this.run.blocked !== null)
      return contents.calls.length + contents.wholes.length + contents.others.length + contents.ends.length > 0 ? [] : [frame];
    // Arguments that only the caller assembles from parts cannot be inspected as the text they become.
    if (this.run.surface.enforces && contents.calls.some(({ scattered }) => scattered === true))
      this.refused = refuse(
        "unsupported_parameter",
        "Arguments of function calls that are streamed in parts cannot be checked by the guardrails of this resource group.",
      );
    if (contents.calls.length > 0) this.hold(frame, contents.calls);
    const before = yield* this.ended(contents.ends, frame, contents.pieces);
    // Text repeated as a whole is inspected only once the outcome of its pieces is known.
    if (this.refusal === null) yield* this.guardWholes(frame, contents, this.run);
    if (this.refusal === null) yield* this.others.guard(frame, contents.others, this.isWhole, (text) => this.guardOther(text));
    if (this.refusal !== null) return [];
    if (movePassages?.() === true) frame.changed = true;
    return contents.calls.length > 0 || before.includes(frame) ? before : [...before, frame];
  }

  private *guardPieces(frame: Frame, contents: AnswerContents, run: GuardRun): InTurns<void> {
    if (run.surface.enforces) {
      for (const { holder, key, without } of contents.tokens) {
        if (without === undefined) delete holder[key];
        else holder[key] = without;
        frame.changed = true;
      }
    }
    for (const piece of contents.pieces) {
      const { holder, key } = piece;
      const text = holder[key] as string;
      if (text === "") continue;
      let out = "";
      if (run.blocked === null) {
        const channel = this.channels.get(piece.channel) ?? (yield* this.opened(piece, frame));
        channel.latest = frame;
        channel.piece = piece;
        out = yield* run.push(channel.hold, text, false);
        this.left(channel, text, out);
      }
      if (out === text) continue;
      holder[key] = out;
      frame.changed = true;
    }
  }

  private *guardWholes(frame: Frame, contents: AnswerContents, run: GuardRun): InTurns<void> {
    for (const { holder, key, kind, flow } of contents.wholes) {
      if (run.blocked !== null) return;
      const text = holder[key] as string;
      const out = yield* flow !== undefined && this.isWhole ? this.guardNext(flow, text) : this.guardWhole(text, kind, run);
      if (out === text) continue;
      holder[key] = out;
      frame.changed = true;
    }
  }

  private guardOther(text: string): InTurns<string> {
    return hasWords(text) ? this.guardWhole(text, "text", this.run) : this.run.text(text);
  }

  private *guardWhole(text: string, kind: "text" | "arguments", run: GuardRun): InTurns<string> {
    const known = this.wholes.get(text);
    if (known !== undefined) return known;
    const out = yield* kind === "arguments" ? run.json(text) : run.text(text);
    // Text already heard in pieces is not added again.
    if (!this.received.includes(out)) this.guardPiece(`\n\n${out}`);
    this.remembered += text.length;
    if (this.remembered <= MAX_REMEMBERED) this.wholes.set(text, out);
    return out;
  }

  /** Guards a whole text that continues the previous one of its flow. */
  private *guardNext(flow: string, text: string): InTurns<string> {
    const before = this.flows.get(flow) ?? "";
    let out: string;
    if (before === "") out = yield* this.guardWhole(text, "text", this.run);
    else {
      const hold = this.run.hold(before);
      out = yield* this.run.push(hold, text, true);
      this.run.close(hold);
      this.redactedTexts.whole(text, hold, before.length);
      this.guardPiece(out);
    }
    this.flows.set(flow, (before + out).slice(-BEFORE));
    return out;
  }

  /** Opens a channel for a text that begins; if it continues another of its flow, the end of that one is inspected with it. */
  private *opened(piece: TextPiece, frame: Frame): InTurns<TextChannel> {
    const { channel: name, flow } = piece;
    let before = "";
    if (flow !== undefined) {
      // Within one frame, blocks follow each other without end markers.
      for (const [other, { latest, piece: last }] of this.channels)
        if (last.flow === flow && latest === frame) yield* this.endedInPlace(other);
      // Text held by blocks that have not ended is still read before this one.
      const open = [...this.channels.values()].filter(({ piece: last }) => last.flow === flow);
      before = ((this.flows.get(flow) ?? "") + open.map(({ hold }) => hold.waiting).join("")).slice(-BEFORE);
    }
    const hold = this.run.hold(before);
    const channel: TextChannel = { hold, latest: frame, piece, continued: before === "" ? null : { came: "", left: "" } };
    this.channels.set(name, channel);
    this.redactedTexts.open(name, hold, before.length);
    return channel;
  }

  private *endedInPlace(name: string): InTurns<void> {
    const channel = this.channels.get(name);
    if (channel === undefined) return;
    const text = yield* this.closed(name, channel);
    const { holder, key } = channel.piece;
    holder[key] = (holder[key] as string) + text;
  }

  /** Closes an ended text and returns what was held of it. */
  private *closed(name: string, channel: TextChannel): InTurns<string> {
    const { run } = this;
    this.channels.delete(name);
    const text = yield* run.push(channel.hold, "", true);
    run.close(channel.hold);
    this.left(channel, "", text);
    this.redactedTexts.close(name);
    const { continued } = channel;
    if (continued !== null && continued.came !== continued.left && continued.came.length <= MAX_REMEMBERED)
      this.wholes.set(continued.came, continued.left);
    return text;
  }

  /** Records text received and sent. */
  private left({ piece: { flow, channel }, continued }: TextChannel, came: string, left: string): void {
    this.redactedTexts.came(channel, came);
    this.guardPiece(left);
    if (flow !== undefined) this.flows.set(flow, ((this.flows.get(flow) ?? "") + left).slice(-BEFORE));
    if (continued === null || continued.came.length > MAX_REMEMBERED) return;
    continued.came += came;
    continued.left += left;
  }

  private guardPiece(text: string): void {
    if (this.run.surface.engines.length > 0) this.received += text;
  }

  private hold(frame: Frame, calls: readonly CallPiece[]): void {
    let group: CallGroup | null = null;
    for (const { group: key } of calls) {
      const known = this.groups.get(key) ?? new CallGroup();
      if (group !== null && group !== known) {
        group.merge(known);
        for (const member of known.open) this.groups.set(member, group);
      } else group = known;
      group.open.add(key);
      this.groups.set(key, group);
    }
    group?.add(frame, calls);
    if (group?.tooLarge === true)
      this.refused = refuse("upstream_invalid_response", "The model's provider sent a tool call that is too large to be checked.");
  }

  /** Ends the channels and call groups whose names begin with one of `prefixes`: first remaining text, then calls. */
  private *ended(prefixes: readonly string[], frame: Frame | null, pieces: AnswerContents["pieces"]): InTurns<Frame[]> {
    const out: Frame[] = [];
    if (prefixes.length === 0) return out;
    const ends = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
    const last = new Map(pieces.map((piece) => [piece.channel, piece]));
    for (const [name, channel] of this.channels) {
      if (!ends(name)) continue;
      const text = yield* this.closed(name, channel);
      this.guardPiece("\n\n");
      if (text === "") continue;
      const own = last.get(name);
      if (own === undefined || frame === null)
        out.push(continuationOf(channel.latest, this.texts, (body) => this.contents(body, false), { channel: name, text }));
      else {
        own.holder[own.key] = (own.holder[own.key] as string) + text;
        frame.changed = true;
      }
    }
    for (const [key, group] of this.groups) {
      if (!ends(key)) continue;
      this.groups.delete(key);
      group.open.delete(key);
      if (group.open.size === 0 && this.refusal === null) out.push(...(yield* this.released(group)));
    }
    return this.refusal === null ? out : [];
  }

  private *released(group: CallGroup): InTurns<Frame[]> {
    let changed = false;
    for (const call of group.calls) {
      yield* guardedName({ kind: "fixed_name", text: call.spelled }, this.run, this.run.surface.guard);
      const text = yield* call.freeform ? this.run.text(call.arguments) : this.run.json(call.arguments);
      if (this.refusal !== null) return [];
      if (!this.received.includes(text)) this.guardPiece(`\n\n${text}`);
      if (text === call.arguments && !call.contradicted) continue;
      call.rewrite(text);
      changed = true;
    }
    if (changed) for (const frame of group.frames) frame.changed = true;
    return group.frames;
  }
}
