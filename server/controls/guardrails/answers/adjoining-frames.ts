import type { TextPiece } from "../../../wire/texts/answer-texts.ts";
import { ShapedFrame } from "../../../road/output/frame-shape.ts";
import type { Frame } from "../../../road/output/frames.ts";

/** Adjoining frames that arrived together, each with one piece of the same text and nothing else; they are inspected as one. */
export class AdjoiningFrames {
  readonly frames: Frame[] = [];
  private readonly pieces: TextPiece[] = [];
  private readonly texts: string[] = [];
  readonly channel: string;

  constructor(frame: Frame, piece: TextPiece) {
    this.channel = piece.channel;
    this.add(frame, piece);
  }

  /** The piece of a frame of a known shape is one of an earlier frame. */
  add(frame: Frame, piece: TextPiece): void {
    this.frames.push(frame);
    this.pieces.push(piece);
    this.texts.push(frame instanceof ShapedFrame ? frame.said : (piece.holder[piece.key] as string));
  }

  get text(): string {
    return this.texts.join("");
  }

  get first(): { readonly frame: Frame; readonly piece: TextPiece } {
    return { frame: this.frames[0] as Frame, piece: this.pieces[0] as TextPiece };
  }

  get last(): { readonly frame: Frame; readonly piece: TextPiece } {
    return { frame: this.frames.at(-1) as Frame, piece: this.pieces.at(-1) as TextPiece };
  }

  /**
   * Distributes the text that may be sent over the frames, leaving as many as possible unchanged, and returns the frames
   * up to the last with text. `before`: text held until now.
   */
  fill(out: string, before: string): Frame[] {
    const isAsItCame = (before + this.text).startsWith(out);
    let at = 0;
    let reach = before.length;
    let saying = 1;
    this.pieces.forEach(({ holder, key }, index) => {
      const text = this.texts[index] as string;
      reach += text.length;
      const isLast = index === this.pieces.length - 1;
      const share = out.slice(at, isAsItCame && !isLast ? reach : out.length);
      at += share.length;
      if (share !== "") saying = index + 1;
      if (share === text) return;
      const frame = this.frames[index] as Frame;
      if (frame instanceof ShapedFrame) return frame.say(share);
      holder[key] = share;
      frame.changed = true;
    });
    return this.frames.slice(0, saying);
  }
}
