import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { eventLoopBatch } from "../../kernel/scheduling/event-loop-batch.ts";
import { type AbortReason, abortReason, type Call, endingRefusal } from "../call.ts";
import type { StreamAnswer } from "../answer.ts";
import { idleWatch } from "./idle-watch.ts";
import { endInTurns, pushInTurns } from "../output/stream-in-turns.ts";
import { drainBody } from "../request/drain-body.ts";
import { streamKeepAlive } from "./stream-keep-alive.ts";

/** How a stream ended: normally, or with an error that is sent to the caller and recorded. */
export interface StreamEnd {
  readonly failure: Refusal | null;
  /** Set if the caller disconnected, so that nothing more can be sent, or if the gateway stops, which `failure` tells the caller. */
  readonly abandoned: AbortReason | null;
  /** Bytes still to be sent once the row is stored. */
  readonly last: Uint8Array | null;
  /** Whether the caller knows of the failure, or will through `last`, in the provider's own words. */
  readonly errorReported: boolean;
}

export interface StreamOutParts {
  readonly idleMs: number;
  /** How long the caller may leave data unread, in milliseconds; the connection's idle timeout when left out. */
  readonly unreadMs?: number;
  /** Milliseconds of silence before `whenSilent` is sent, until the first piece and after it; the defaults when left out. */
  readonly silentMs?: readonly [number, number];
  /** Called with each piece as it is sent, including `whenSilent`. */
  readonly sent: (piece: Uint8Array) => void;
  /** Settles and seals; resolves with the caller's last bytes once the row is on stable storage. Called exactly once. */
  readonly end: (end: StreamEnd) => Promise<Uint8Array | null>;
}

const UNREAD_MS = 120_000;

const over = eventLoopBatch();

/**
 * Forwards an upstream's stream as it arrives. Each piece is read only when the caller has room for it, only the last frame is held back,
 * and a caller who disconnects or stops reading ends the upstream call.
 */
export function streamOut(call: Call, answer: StreamAnswer, parts: StreamOutParts): ReadableStream<Uint8Array> {
  const reader = answer.upstream;
  const head = [...answer.head];
  let ended = false;
  let controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether the caller has not taken the last piece yet; the upstream is not read until then. */
  let unread = false;
  /** Whether the stream is being ended without a read by the caller. */
  let ending = false;
  let unreadWatch: ReturnType<typeof idleWatch> | null = null;
  const idle = idleWatch(parts.idleMs, () => call.abort.abort("upstream_timeout" satisfies AbortReason));

  const { signal } = call.abort;
  // Otherwise a silent upstream would keep running for a caller who may no longer receive anything.
  const shutOut = () => {
    const shut = endingRefusal(call) !== null;
    if (shut) void cancelQuietly(reader);
    if (unread && (shut || abortReason(call) === "gateway_interrupted"))
      void endUnread().catch((error: unknown) => controller.error(error));
  };
  signal.addEventListener("abort", shutOut, { once: true });
  if (signal.aborted) shutOut();

  const end = async (how: StreamEnd): Promise<Uint8Array | null> => {
    if (ended) return null;
    ended = true;
    idle.stop();
    silence.stop();
    unreadWatch?.stop();
    signal.removeEventListener("abort", shutOut);
    await over();
    return parts.end(how);
  };

  /** Sends no keep-alives to a caller who is not reading, so that they do not pile up. */
  const sendSilenceEvent = (bytes: Uint8Array) => {
    if (ended || ending || unread || (controller.desiredSize ?? 0) <= 0) return;
    parts.sent(bytes);
    controller.enqueue(bytes);
  };
  const silence = streamKeepAlive(answer.whenSilent ?? null, sendSilenceEvent, parts.silentMs);
  const give = (piece: Uint8Array) => {
    parts.sent(piece);
    silence.told(piece);
    controller.enqueue(piece);
    unread = (controller.desiredSize ?? 0) <= 0;
    if (!unread) return;
    (unreadWatch ??= idleWatch(parts.unreadMs ?? UNREAD_MS, letGo)).wait();
    // The call was aborted while this piece was on its way.
    if (signal.aborted && !ending) shutOut();
  };
  const finish = async (how: StreamEnd): Promise<void> => {
    const last = await end(how);
    // A partial file must not pass for the whole.
    if (answer.bytes === true && how.failure !== null) return controller.error(new Error(how.failure.message));
    if (last !== null && last.byteLength > 0) controller.enqueue(last);
    controller.close();
  };
  /** Ends the stream while data is unread: the caller may still read it and learn how the stream ended. */
  const endUnread = async (): Promise<void> => {
    ending = true;
    const how = await stoppedShort(call, answer);
    void cancelQuietly(reader);
    if (how.failure === null) for (const held of head.splice(0)) give(held);
    await finish(how);
  };
  const letGo = () => {
    call.abort.abort("client_disconnected" satisfies AbortReason);
    void cancelQuietly(reader);
    void end(left(call, answer)).catch(() => undefined);
    controller.error(new Error("the caller stopped reading"));
  };

  return new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    async pull() {
      if (ending) return;
      unread = false;
      unreadWatch?.pause();
      const held = head.shift();
      if (held !== undefined) return give(held);
      let how: StreamEnd;
      try {
        for (;;) {
          const refused = answer.refusal?.(false) ?? null;
          if (refused !== null) {
            void cancelQuietly(reader);
            how = refusedEnd(refused);
            break;
          }
          if (answer.bytes === true) signal.throwIfAborted();
          idle.wait();
          const { done, value } = answer.codec.closed === true ? nothingMore(reader) : await reader.read();
          idle.pause();
          if (ended) return;
          if (done) {
            how = await atEnd(call, answer);
            if (ended) return;
            break;
          }
          const pushed = pushInTurns(call, answer.codec, value);
          const piece = pushed instanceof Promise ? await pushed : pushed;
          if (ended) return;
          if (piece !== null) return give(piece);
        }
      } catch (error) {
        how = await brokenOff(call, answer, error);
        void cancelQuietly(reader);
      }
      await finish(how);
    },
    async cancel() {
      call.abort.abort("client_disconnected" satisfies AbortReason);
      void cancelQuietly(reader);
      await end(left(call, answer));
    },
  });
}

function refusedEnd(failure: Refusal): StreamEnd {
  return { failure, abandoned: null, last: null, errorReported: false };
}

function torn(call: Call, { sender }: StreamAnswer, reason: string): Refusal {
  const message = (what: string) => (sender === undefined ? undefined : `The ${sender} ${what}.`);
  const why = abortReason(call);
  if (why === "gateway_interrupted") return refuse("draining", "The gateway stopped before the answer ended.");
  const ending = endingRefusal(call);
  if (ending !== null) return ending;
  return why === "upstream_timeout"
    ? refuse("upstream_timeout", message("did not answer in time"))
    : refuse("upstream_interrupted", message("broke off its answer"), { reason });
}

/** The end of a stream whose upstream sends nothing more. */
async function atEnd(call: Call, answer: StreamAnswer): Promise<StreamEnd> {
  const { codec } = answer;
  const ending = endInTurns(call, codec);
  const { complete, last, errorReported } = ending instanceof Promise ? await ending : ending;
  const refusal = answer.refusal?.(true) ?? null;
  if (refusal !== null) return { failure: refusal, abandoned: null, last, errorReported: false };
  const shutOutBy = errorReported ? null : endingRefusal(call);
  if (shutOutBy !== null) return { failure: shutOutBy, abandoned: null, last, errorReported };
  if (complete) return { failure: null, abandoned: null, last, errorReported };
  if (codec.providerError !== null) {
    const failure = refuse("upstream_interrupted", undefined, { reason: codec.providerError });
    return { failure, abandoned: null, last, errorReported };
  }
  return tornEnd(call, answer, last, errorReported);
}

function tornEnd(call: Call, answer: StreamAnswer, last: StreamEnd["last"], errorReported: boolean): StreamEnd {
  const failure = torn(call, answer, "the stream ended before its answer did");
  return { failure, abandoned: failure.code === "draining" ? "gateway_interrupted" : null, last, errorReported };
}

/** A stream stopped early: normal streams can end anywhere, a file is incomplete. */
async function stoppedShort(call: Call, answer: StreamAnswer): Promise<StreamEnd> {
  return answer.bytes === true ? tornEnd(call, answer, null, false) : atEnd(call, answer);
}

/** The end of a stream whose reading failed or was aborted. */
async function brokenOff(call: Call, answer: StreamAnswer, error: unknown): Promise<StreamEnd> {
  const reason = abortReason(call);
  if (reason === "client_disconnected") return left(call, answer);
  if (reason === "gateway_interrupted") return stoppedShort(call, answer);
  return refusedEnd(answer.refusal?.(true) ?? torn(call, answer, reasonOf(error)));
}

/** The end of a stream whose caller can be sent nothing more. */
function left(call: Call, answer: StreamAnswer): StreamEnd {
  const failure = endingRefusal(call);
  const why = abortReason(call) === "gateway_interrupted" ? "gateway_interrupted" : "client_disconnected";
  return { failure, last: null, errorReported: failure !== null, abandoned: answer.endless === true || failure !== null ? null : why };
}

function nothingMore(reader: StreamAnswer["upstream"]): { readonly done: true; readonly value: undefined } {
  void drainBody(reader);
  return { done: true, value: undefined };
}
