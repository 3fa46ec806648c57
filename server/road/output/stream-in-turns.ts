import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../../wire/streams/stream.ts";
import type { Call } from "../call.ts";
import { contentWorkOf } from "../policy/content-work.ts";

/** Runs a piece through the codec in time slices. Returns a promise if the work pauses to let other calls run. */
export function pushInTurns(call: Call, codec: StreamCodec, piece: Uint8Array): StreamPiece | Promise<StreamPiece> {
  return codec.pushing === undefined ? codec.push(piece) : inTurns(codec.pushing(piece), contentWorkOf(call));
}

/** `pushInTurns` for the end of the stream. */
export function endInTurns(call: Call, codec: StreamCodec): StreamEnding | Promise<StreamEnding> {
  return codec.ending === undefined ? codec.end() : inTurns(codec.ending(), contentWorkOf(call));
}
