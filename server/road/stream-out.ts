import { reasonOf, type Refusal, refuse } from "../kernel/errors.ts";
import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";
import { eventLoopBatch } from "../kernel/scheduling/event-loop-batch.ts";
import { type AbortReason, abortReason, type Call, endingRefusal } from "./call.ts";
import type { StreamAnswer } from "./answer.ts";
import { idleWatch } from "./idle-watch.ts";
import { endInTurns, pushInTurns } from "./output/stream-in-turns.ts";
import { drainBody } from "./drain-body.ts";
import { streamKeepAlive } from "./stream-keep-alive.ts";

/** How a stream ended: by itself, or with an error that the caller gets and the row records. */
export interface StreamEnd {
  readonly failure: Refusal | null;
  /** The client is gone, and nothing can be sent to it any more, or the gateway stops, of which it gets to know by the failure. */
  readonly abandoned: AbortReason | null;
  /** What is still to be sent, once the row is stored. */
  readonly last: Uint8Array | null;
  /** Whether the caller knows of the failure, or will by `last`, in the provider's own words. */
  readonly errorReported: boolean;
}

export interface StreamOutParts {
  readonly idleMs: number;
  /** How long the caller may take nothing of what is there for them; as long as a connection may be idle when left out. */
  readonly unreadMs?: number;
  /** Silences after which `whenSilent` is said, before the first piece and behind it; the usual ones when left out. */
  readonly silentMs?: readonly [number, number];
  /** Each piece as it goes out, and `whenSilent` where it does. */
  readonly sent: (piece: Uint8Array) => void;
  /** Settles and seals; resolves with the caller's last bytes once the row is on stable storage. Called exactly once. */
  readonly end: (end: StreamEnd) => Promise<Uint8Array | null>;
}

const UNREAD_MS = 120_000;

const over = eventLoopBatch();

/**
 * Passes an upstream's stream on as it arrives: one piece is read only when the caller has room for it, nothing but the
 * last frame is held, and a caller who hangs up or reads no more ends the upstream call.
 */
export function streamOut(call: Call, answer: StreamAnswer, parts: StreamOutParts): ReadableStream<Uint8Array> {
  const reader = answer.upstream;
  const head = [...answer.head];
  let ended = false;
  let controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether a piece is there that the caller has not taken: nothing is asked of the upstream until then. */
  let unread = false;
  /** Whether it ends without the caller's asking for more. */
  let ending = false;
  let unreadWatch: ReturnType<typeof idleWatch> | null = null;
  const idle = idleWatch(parts.idleMs, () => call.abort.abort("upstream_timeout" satisfies AbortReason));

  const { signal } = call.abort;
  // An upstream that is between two connections, or that has nothing to tell, would go on for somebody who may hear no more.
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

  /** Nothing piles up in front of a caller who reads no more. */
  const tellSilence = (said: Uint8Array) => {
    if (ended || ending || unread || (controller.desiredSize ?? 0) <= 0) return;
    parts.sent(said);
    controller.enqueue(said);
  };
  const silence = streamKeepAlive(answer.whenSilent ?? null, tellSilence, parts.silentMs);
  const give = (piece: Uint8Array) => {
    parts.sent(piece);
    silence.told(piece);
    controller.enqueue(piece);
    unread = (controller.desiredSize ?? 0) <= 0;
    if (!unread) return;
    (unreadWatch ??= idleWatch(parts.unreadMs ?? UNREAD_MS, letGo)).wait();
    // It was ended while this piece was on its way.
    if (signal.aborted && !ending) shutOut();
  };
  const finish = async (how: StreamEnd): Promise<void> => {
    const last = await end(how);
    // Nobody may take a part of a file for the whole.
    if (answer.bytes === true && how.failure !== null) return controller.error(new Error(how.failure.message));
    if (last !== null && last.byteLength > 0) controller.enqueue(last);
    controller.close();
  };
  /** The caller may come back to what is there, and to how it ended. */
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
  const told = (what: string) => (sender === undefined ? undefined : `The ${sender} ${what}.`);
  const why = abortReason(call);
  if (why === "gateway_interrupted") return refuse("draining", "The gateway stopped before the answer ended.");
  const ending = endingRefusal(call);
  if (ending !== null) return ending;
  return why === "upstream_timeout"
    ? refuse("upstream_timeout", told("did not answer in time"))
    : refuse("upstream_interrupted", told("broke off its answer"), { reason });
}

/** Nothing more comes. */
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

/** It is ended before its end: what may end at any time has ended, and of a file a part is not the whole. */
async function stoppedShort(call: Call, answer: StreamAnswer): Promise<StreamEnd> {
  return answer.bytes === true ? tornEnd(call, answer, null, false) : atEnd(call, answer);
}

/** Reading it failed, or was ended. */
async function brokenOff(call: Call, answer: StreamAnswer, error: unknown): Promise<StreamEnd> {
  const reason = abortReason(call);
  if (reason === "client_disconnected") return left(call, answer);
  if (reason === "gateway_interrupted") return stoppedShort(call, answer);
  return refusedEnd(answer.refusal?.(true) ?? torn(call, answer, reasonOf(error)));
}

/** Nothing can be told any more. */
function left(call: Call, answer: StreamAnswer): StreamEnd {
  const failure = endingRefusal(call);
  const why = abortReason(call) === "gateway_interrupted" ? "gateway_interrupted" : "client_disconnected";
  return { failure, last: null, errorReported: failure !== null, abandoned: answer.endless === true || failure !== null ? null : why };
}

function nothingMore(reader: StreamAnswer["upstream"]): { readonly done: true; readonly value: undefined } {
  void drainBody(reader);
  return { done: true, value: undefined };
}
