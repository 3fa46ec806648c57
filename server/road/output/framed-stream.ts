import { concat } from "../../wire/streams/adjoining-bytes.ts";
import type { StreamCodec, StreamPiece } from "../../wire/streams/stream.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { type Frame, type StreamFraming, framingOf } from "./frames.ts";
import { WrappedStream } from "./wrapped-stream.ts";

/** A stream in the caller's format that is inspected frame by frame. */
export abstract class FramedStream extends WrappedStream {
  protected readonly framing: StreamFraming;

  constructor(inner: StreamCodec, form: OutputForm["framing"]) {
    super(inner);
    this.framing = framingOf(form, true);
  }

  /** Drops frames that could not be parsed: some client may read them, for example NaN in place of a number. */
  protected written(frames: readonly Frame[]): StreamPiece {
    const read = frames.filter(({ unread }) => unread !== true);
    return read.length === 0 ? null : concat(read.map((frame) => this.framing.write(frame)));
  }

  /** Concatenates the pieces; null if there are none. */
  protected joined(pieces: readonly StreamPiece[]): StreamPiece {
    const given = pieces.filter((piece) => piece !== null);
    return given.length === 0 ? null : concat(given);
  }
}
