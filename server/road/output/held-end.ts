import { runToEnd, type InTurns } from "../../kernel/scheduling/in-turns.ts";
import { concat } from "../../wire/streams/adjoining-bytes.ts";
import type { StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { StreamAnswer } from "../answer.ts";
import { passedHead, WrappedStream } from "./wrapped-stream.ts";

/** One audio sample, so that audio in whole samples is still sent in whole samples. */
const HELD_BYTES = 2;

/** Holds back the last bytes of a raw byte stream until the audit row is stored, because such a stream has no last frame to hold. */
class HeldEnd extends WrappedStream {
  private held: Uint8Array = new Uint8Array();

  // oxlint-disable-next-line require-yield -- it takes no time
  *passing(piece: StreamPiece): InTurns<StreamPiece> {
    if (piece === null) return null;
    const bytes = this.held.byteLength === 0 ? piece : concat([this.held, piece]);
    // Copied, so that the rest of the piece is not kept alive.
    this.held = bytes.slice(-HELD_BYTES);
    return bytes.byteLength <= HELD_BYTES ? null : bytes.subarray(0, -HELD_BYTES);
  }

  *ending(): InTurns<StreamEnding> {
    const { complete, last, errorReported } = yield* this.innerEnding();
    const rest = concat(last === null ? [this.held] : [this.held, last]);
    return { complete, last: rest.byteLength === 0 ? null : rest, errorReported };
  }
}

/** Wraps a byte stream so that its caller gets the end only once the row is stored; other answers are unchanged. */
export function withHeldEnd(answer: StreamAnswer): StreamAnswer {
  if (answer.bytes !== true) return answer;
  const codec = new HeldEnd(answer.codec);
  return { ...answer, codec, head: runToEnd(passedHead(codec, answer.head)) };
}
