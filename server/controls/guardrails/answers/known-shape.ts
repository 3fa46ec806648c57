import { type JsonObject, objectInJson } from "../../../kernel/json-value.ts";
import { type FrameShape, shapeAround } from "../../../road/output/frame-shape.ts";
import type { Frame } from "../../../road/output/frames.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import type { TextPiece } from "../../../wire/texts/answer-texts.ts";

const decoder = new TextDecoder();
/** A text that shows which member holds it. With a space, so that members that are usually not texts count as well. */
const PROBE = "gatehouse probe";
/** Shapes tried in a row without a single frame that has one: each costs as much as a frame. */
const MOST_UNUSED = 3;

/** The shape of the newest frame of a stream, if all that was found to inspect in it is one piece of a text. */
export class KnownShape {
  shape: FrameShape | null = null;
  private likePiece: TextPiece | null = null;
  private unused = 0;

  /** The piece of the frame from which the shape was learned. */
  get piece(): TextPiece | null {
    this.unused = 0;
    return this.likePiece;
  }

  /** `piece`: all there is to inspect in the frame, which has not been changed; `onlyPiece` finds it in the body of another frame. */
  learn(frame: Frame, piece: TextPiece | null, onlyPiece: (body: JsonObject) => TextPiece | null): void {
    this.shape = this.likePiece = null;
    if (piece === null || frame.changed || this.unused >= MOST_UNUSED) return;
    const { holder, key, channel } = piece;
    const shape = shapeAround(decoder.decode(frame.bytes), String(key), holder[key] as string);
    if (shape === null) return;
    this.unused++;
    const like = objectInJson(frameData(shape.eventWith(PROBE)) ?? "");
    const probed = like === null ? null : onlyPiece(like);
    if (probed === null || probed.channel !== channel || probed.holder[probed.key] !== PROBE) return;
    this.shape = shape;
    this.likePiece = piece;
  }
}
