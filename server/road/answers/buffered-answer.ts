import { type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { type AbortReason, abortReason, type Call } from "../call.ts";
import { drainBody } from "../request/drain-body.ts";
import type { StreamAnswer } from "../answer.ts";
import { endInTurns, pushInTurns } from "../output/stream-in-turns.ts";

/** A streamed answer that was read completely before any of it was sent. */
export interface BufferedAnswer {
  readonly pieces: readonly Uint8Array[];
  /** The same stream from its beginning; it ends as the provider's did. */
  readonly answer: StreamAnswer;
}

/** Default limit on the bytes of a stream held in memory. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/** Reads a stream to its end, or to where it broke off. Returns a refusal if the call ended meanwhile or the answer grew too long. */
export async function bufferAnswer(call: Call, answer: StreamAnswer, idleMs: number): Promise<BufferedAnswer | Refusal> {
  const { codec, upstream, mostHeld = MAX_BUFFERED_BYTES } = answer;
  const pieces = [...answer.head];
  let bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  let broken: unknown = null;
  while (codec.closed !== true) {
    const timer = setTimeout(() => call.abort.abort("upstream_timeout" satisfies AbortReason), idleMs);
    try {
      const { done, value } = await upstream.read();
      if (done) break;
      const pushed = pushInTurns(call, codec, value);
      const piece = pushed instanceof Promise ? await pushed : pushed;
      const refusal = answer.refusal?.(false) ?? null;
      if (refusal !== null) {
        void cancelQuietly(upstream);
        return refusal;
      }
      if (piece === null) continue;
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes <= mostHeld) continue;
      void cancelQuietly(upstream);
      return refuse("upstream_invalid_response", "The answer is too long to be judged before it is given.");
    } catch (error) {
      broken = error;
      break;
    } finally {
      clearTimeout(timer);
    }
  }
  if (codec.closed === true) void drainBody(upstream);
  const why = abortReason(call);
  if (why !== null) return why === "upstream_timeout" ? refuse("upstream_timeout") : refuse("upstream_interrupted");
  const end = broken === null ? await endInTurns(call, codec) : null;
  const refusal = answer.refusal?.(true) ?? null;
  if (refusal !== null) return refusal;
  const all = end?.last == null ? pieces : [...pieces, end.last];
  const given = {
    push: () => null,
    end: () => end ?? { complete: false, last: null, errorReported: false },
    begun: codec.begun,
    usage: codec.usage,
    ...(codec.fees && { fees: codec.fees }),
    served: codec.served,
    outputLength: codec.outputLength,
    providerError: codec.providerError,
  };
  return { pieces: all, answer: { ...answer, head: pieces, codec: given, upstream: endedLike(broken) } };
}

function endedLike(broken: unknown): ReadableStreamDefaultReader<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (broken === null) controller.close();
      else controller.error(broken);
    },
  }).getReader();
}
