import type { TextPiece } from "../../../wire/texts/answer-texts.ts";
import { ShapedFrame } from "../../../road/output/frame-shape.ts";
import type { Frame } from "../../../road/output/frames.ts";

/** Adjoining frames that arrived together, each with one piece of the same text and nothing else; they are inspected as one. */
export class AdjoiningFrames {
  readonly frames: Frame[];
  private readonly pieces: TextPiece[];
  private readonly texts: string[];
  readonly channel: string;
  /** The last frame and its piece; that of a frame of a known shape is one of an earlier frame. */
  frame: Frame;
  piece: TextPiece;
  /** What the frames say together. */
  text: string;

  constructor(frame: Frame, piece: TextPiece) {
    const text = textIn(frame, piece);
    this.channel = piece.channel;
    this.frames = [frame];
    this.pieces = [piece];
    this.texts = [text];
    this.frame = frame;
    this.piece = piece;
    this.text = text;
  }

  add(frame: Frame, piece: TextPiece): void {
    const text = textIn(frame, piece);
    this.frames.push(frame);
    this.pieces.push(piece);
    this.texts.push(text);
    this.frame = frame;
    this.piece = piece;
    this.text += text;
  }

  /**
   * Distributes the text that may be sent over the frames, leaving as many as possible unchanged, and returns the frames
   * up to the last with text. `before`: text held until now.
   */
  fill(out: string, before: string): Frame[] {
    const isAsItCame = (before + this.text).startsWith(out);
    const last = this.frames.length - 1;
    let at = 0;
    let reach = before.length;
    let saying = 1;
    for (let index = 0; index <= last; index++) {
      const text = this.texts[index] as string;
      reach += text.length;
      const share = out.slice(at, isAsItCame && index < last ? reach : out.length);
      at += share.length;
      if (share !== "") saying = index + 1;
      if (share !== text) replaceText(this.frames[index] as Frame, this.pieces[index] as TextPiece, share);
    }
    return saying === this.frames.length ? this.frames : this.frames.slice(0, saying);
  }
}

function textIn(frame: Frame, { holder, key }: TextPiece): string {
  return frame instanceof ShapedFrame ? frame.said : (holder[key] as string);
}

function replaceText(frame: Frame, { holder, key }: TextPiece, text: string): void {
  if (frame instanceof ShapedFrame) return frame.say(text);
  holder[key] = text;
  frame.changed = true;
}
