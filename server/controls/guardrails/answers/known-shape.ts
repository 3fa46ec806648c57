import type { JsonObject } from "../../../kernel/json-value.ts";
import { type FrameShape, shapedFrame } from "../../../road/output/frame-shape.ts";
import type { Frame } from "../../../road/output/frames.ts";
import type { AnswerContents, TextPiece } from "../../../wire/texts/answer-texts.ts";

const decoder = new TextDecoder();
/** A text that shows which member holds it. With a space, so that members that are usually not texts count as well. */
const PROBE = "gatehouse probe";
/** Shapes tried in a row without a single frame that has one: each costs as much as a frame. */
const MAX_UNUSED = 3;

/** The shape of the newest frame of a stream, if all that was found to inspect in it is one piece of a text. */
export class KnownShape {
  shape: FrameShape | null = null;
  private likePiece: TextPiece | null = null;
  private unused: number;

  /** `isUsed`: false for formats in which no two frames have the same shape. */
  constructor(isUsed: boolean) {
    this.unused = isUsed ? 0 : MAX_UNUSED;
  }

  /** The piece of the frame from which the shape was learned. */
  get piece(): TextPiece | null {
    this.unused = 0;
    return this.likePiece;
  }

  /** `piece`: all there is to inspect in the frame, which has not been changed yet; null if there is more. */
  learn(frame: Frame, piece: TextPiece | null, contents: (body: JsonObject) => AnswerContents): void {
    this.shape = this.likePiece = null;
    if (piece === null || frame.changed || this.unused >= MAX_UNUSED) return;
    const { holder, key, channel } = piece;
    const found = shapedFrame(frame.bytes, decoder.decode(frame.bytes), String(key), holder[key] as string);
    if (found === null) return;
    this.unused++;
    const [like, shape] = found;
    like.say(PROBE);
    const { body } = like;
    const probed = body === null ? null : onlyPiece(contents(body));
    if (probed === null || probed.channel !== channel || probed.holder[probed.key] !== PROBE) return;
    this.shape = shape;
    this.likePiece = piece;
  }
}

/** The single piece of a text that a frame consists of; null if it has more contents. */
export function onlyPiece({ pieces, wholes, calls, others, ends, tokens, passages }: AnswerContents): TextPiece | null {
  const [piece] = pieces;
  const isAlone = pieces.length === 1 && wholes.length + calls.length + others.length + ends.length + tokens.length + passages.length === 0;
  return piece === undefined || !isAlone || piece.holder[piece.key] === "" ? null : piece;
}
