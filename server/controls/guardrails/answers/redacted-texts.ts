import type { AnswerContents, CitedPassage, Place, TextPiece } from "../../../wire/texts/answer-texts.ts";
import type { HoldBack } from "./hold-back.ts";
import {
  redactionMove,
  isRedacted,
  type PositionMove,
  movePassage,
  type Redaction,
  redactionsOf,
  UNKNOWN_MOVE,
  redactionsWithin,
} from "./redactions.ts";

interface StreamedText {
  /** Null if it has become too long to be remembered. */
  came: string | null;
  readonly hold: HoldBack;
  /** The length of the text before it that its hold knows. */
  readonly before: number;
}

/** Longer texts are not remembered. */
const MAX_REMEMBERED = 1_000_000;
/** Characters before the text that is held with which it is inspected. */
const CONTEXT = 256;

/** Remembers what was redacted in the texts of an answer, so that positions in them can follow. */
export class RedactedTexts {
  private readonly newHold: (before: string) => HoldBack;
  private readonly streamed = new Map<string, StreamedText>();
  private readonly wholes = new Map<string, readonly Redaction[]>();

  /** `newHold`: makes what guards a text that continues `before`. */
  constructor(newHold: (before: string) => HoldBack) {
    this.newHold = newHold;
  }

  open(channel: string, hold: HoldBack, before: number): void {
    this.streamed.set(channel, { came: "", hold, before });
  }

  came(channel: string, piece: string): void {
    const text = this.streamed.get(channel);
    if (text === undefined || text.came === null) return;
    text.came = text.came.length + piece.length > MAX_REMEMBERED ? null : text.came + piece;
  }

  /** A text without redactions need not be remembered once it has ended. */
  close(channel: string): void {
    const text = this.streamed.get(channel);
    if (text !== undefined && !text.hold.findings.some(isRedacted)) this.streamed.delete(channel);
  }

  /** A whole text that continues another one. */
  whole(text: string, { findings }: HoldBack, before: number): void {
    if (findings.some(isRedacted)) this.wholes.set(text, redactionsOf(findings, before));
  }

  /** Call before the texts of a frame are guarded. The result moves the passages afterwards, and returns whether any was moved. */
  follow({ passages, pieces }: AnswerContents, isWhole: boolean): () => boolean {
    const came = passages.map(({ places }) => (places === null ? null : textAt(places)));
    const parts = isWhole ? pieces.map((piece) => [piece, textAt([piece])] as const) : [];
    return () => {
      for (const channel of new Set(parts.map(([piece]) => piece.channel)))
        this.align(parts.filter(([piece]) => piece.channel === channel));
      const known = new Map<string, PositionMove>();
      let moved = false;
      for (const [at, passage] of passages.entries()) {
        const text = came[at] ?? null;
        const key = `${passage.unit} ${passage.channel} ${text ?? ""}`;
        let move = known.get(key);
        if (move === undefined) {
          move = text === null ? this.inStream(passage) : this.inWhole(passage, text);
          known.set(key, move);
        }
        if (move !== null) moved = movePassage(passage, move) || moved;
      }
      return moved;
    };
  }

  /** What is held of one part was added to a later one: this puts each part's text back to where it was. */
  private align(parts: readonly (readonly [TextPiece, string])[]): void {
    const channel = parts[0]?.[0].channel;
    const came = parts.map(([, text]) => text).join("");
    const redactions = channel === undefined ? [] : this.inText(channel);
    if (parts.length < 2 || redactionMove(came, redactions, "code units").left !== textAt(parts.map(([piece]) => piece))) return;
    let start = 0;
    for (const [{ holder, key }, text] of parts) {
      const own = redactionsWithin(redactions, start, start + text.length);
      holder[key] = redactionMove(text, own, "code units").left;
      if (own.length > 0) this.wholes.set(text, own);
      start += text.length;
    }
  }

  private inStream({ channel, unit }: CitedPassage): PositionMove {
    const redactions = this.inText(channel);
    if (redactions.length === 0) return null;
    const came = this.streamed.get(channel)?.came ?? null;
    return came === null ? UNKNOWN_MOVE : redactionMove(came, redactions, unit);
  }

  /** The redactions in a text so far, with those in what is still held as if the text ended here. */
  private inText(channel: string): Redaction[] {
    const text = this.streamed.get(channel);
    if (text === undefined) return [];
    const { hold, before, came } = text;
    const { waiting } = hold;
    if (came === null || waiting === "") return redactionsOf(hold.findings, before);
    const context = came.slice(0, came.length - waiting.length).slice(-CONTEXT);
    const ahead = this.newHold(context);
    ahead.end(waiting);
    const shift = before + came.length - waiting.length - context.length;
    const coming = ahead.findings.map((finding) => ({ ...finding, start: finding.start + shift, end: finding.end + shift }));
    return redactionsOf(
      [...hold.findings, ...coming].toSorted((a, b) => a.start - b.start),
      before,
    );
  }

  private inWhole({ unit, places, channel }: CitedPassage, came: string): PositionMove {
    const left = textAt(places ?? []);
    if (left === came) return null;
    const streamed = this.streamed.get(channel);
    const findings =
      streamed?.came === came ? redactionsOf(streamed.hold.findings, streamed.before) : (this.wholes.get(came) ?? this.inspected(came));
    const move = redactionMove(came, findings, unit);
    return move.left === left ? move : UNKNOWN_MOVE;
  }

  private inspected(text: string): readonly Redaction[] {
    const hold = this.newHold("");
    hold.end(text);
    return redactionsOf(hold.findings, 0);
  }
}

function textAt(places: readonly Place[]): string {
  return places.map(({ holder, key }) => String(holder[key])).join("");
}
