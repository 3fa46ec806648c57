import { type ErrorCode, ERRORS, isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { internalErrorOf } from "../../kernel/internal-error.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { Log } from "../../kernel/log.ts";
import { waitsForOthers } from "../../kernel/scheduling/waiting-answers.ts";
import { ownAnswer, type StreamAnswer, type WholeAnswer } from "../answer.ts";
import { type AbortReason, abortReason, type Call, endingRefusal } from "../call.ts";
import { settle } from "../metering/settle.ts";
import { streamUsage } from "../metering/stream-usage.ts";
import type { OpenCalls } from "../open-calls.ts";
import { storedBodies, SentContent } from "../record/content.ts";
import { answeredOutcome, closeRecord, type CallOutcome, callOutcome, refusedOutcome, wholeSent } from "../record/finish.ts";
import type { LateAnswer } from "./late-answer.ts";
import { withHeldEnd } from "../output/held-end.ts";
import { streamKeepAlive } from "./stream-keep-alive.ts";
import { type StreamEnd, streamOut } from "./stream-out.ts";
import type { Surface } from "../surface.ts";

export interface SenderParts {
  readonly calls: OpenCalls;
  readonly log: Log;
  /** Longest silence of an upstream, unless the stream sets its own. */
  readonly upstreamTimeoutMs: number;
  /** Called for every call whose answer was withheld because it could not be recorded. */
  readonly unrecorded: (reason: ErrorCode) => void;
}

/** The status of an answer whose headers were sent before its outcome was known. */
export const LATE_STATUS = 200;
/** The same interval as the keep-alive of a stream that has begun. */
const LATE_SILENCE_MS = 15_000;

interface Streamed {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Record<string, string>;
  /** Resolves once only the caller is still to read. */
  readonly ended: Promise<void>;
}

/** Sends answers to callers, each once its row is on stable storage and what later calls need from it is stored. */
export class Sender {
  private readonly parts: SenderParts;

  constructor(parts: SenderParts) {
    this.parts = parts;
  }

  /** Null if the row could not be stored: the answer must not be sent then. */
  refusal(call: Call, surface: Surface, refusal: Refusal): Promise<Response | null> {
    const shown = shownRefusal(call, refusal);
    const { retry, status: usual } = ERRORS[shown.code];
    const { headers, body, status = usual } = surface.refusal(shown, call);
    // Official clients retry on the status alone, unless a header forbids it.
    const inVain: Record<string, string> =
      !retry && (status === 409 || status === 429 || status >= 500) ? { "x-should-retry": "false" } : {};
    // A refusal with its own way to get a credential overrides this header.
    const challenge: Record<string, string> = status === 401 ? { "www-authenticate": "Bearer" } : {};
    const outcome = refusedOutcome(call, refusal);
    const reported = outcome.status === usual ? { ...outcome, status } : outcome;
    return this.whole(call, ownAnswer(status, { ...headers, ...inVain, ...challenge, ...shown.headers }, body), reported);
  }

  /** Null if the row could not be stored: the answer must not be sent then. */
  async whole(call: Call, { status, headers: ownHeaders, body }: WholeAnswer, outcome: CallOutcome): Promise<Response | null> {
    const headers = { ...call.answerHeaders, ...ownHeaders };
    closeRecord(call, outcome, wholeSent(call, body, storedBodies(call), headers));
    return (await this.sealed(call)) ? new Response(body as Uint8Array<ArrayBuffer>, { status, headers }) : null;
  }

  /** `sealBroken` seals the row of a call that could not be finished normally. */
  stream(call: Call, surface: Surface, given: StreamAnswer, sealBroken: () => Promise<boolean>): Response {
    const { body, headers, ended } = this.streamed(call, surface, given, new SentContent(storedBodies(call) !== "none"), sealBroken);
    const response = new Response(body, { status: given.status, headers });
    // A file is already complete: only its reader can be slow.
    return given.bytes === true ? response : waitsForOthers(response, ended);
  }

  /**
   * An answer whose headers are sent before its outcome is known. Keep-alives are sent meanwhile, and a failure becomes an error in the
   * stream.
   */
  late(call: Call, surface: Surface, late: LateAnswer, sealBroken: () => Promise<boolean>): Response {
    const { said: bytesSent } = late.awaited;
    const headers = { ...call.answerHeaders, ...late.awaited.headers, ...call.requestHeadersSent };
    const content = new SentContent(storedBodies(call) !== "none");
    const ended = Promise.withResolvers<void>();
    const rest = this.restOf(call, surface, late, headers, content, sealBroken).then((given) => {
      void given.ended.then(ended.resolve);
      return given.body.getReader();
    });
    rest.catch(ended.resolve);
    let silence: ReturnType<typeof streamKeepAlive>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const say = () => {
          if ((controller.desiredSize ?? 0) <= 0) return;
          content.addBeside(bytesSent);
          controller.enqueue(bytesSent);
        };
        silence = streamKeepAlive(bytesSent, say, [LATE_SILENCE_MS, LATE_SILENCE_MS]);
        say();
      },
      async pull(controller) {
        const reader = await rest.finally(silence.stop);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        silence.stop();
        call.abort.abort("client_disconnected" satisfies AbortReason);
        await rest.then((reader) => reader.cancel()).catch(() => undefined);
      },
    });
    return waitsForOthers(new Response(body, { status: LATE_STATUS, headers }), ended.promise);
  }

  private async restOf(
    call: Call,
    surface: Surface,
    { coming, awaited }: LateAnswer,
    headers: Record<string, string>,
    content: SentContent,
    sealBroken: () => Promise<boolean>,
  ): Promise<Streamed> {
    const answer = await coming.catch((error: unknown) => {
      this.parts.log.error("call_failed", { call_id: call.id, error: error as Error });
      return internalErrorOf(error);
    });
    try {
      if (!isRefusal(answer) && answer.kind === "stream")
        return this.streamed(call, surface, { ...answer, status: LATE_STATUS, headers }, content, sealBroken);
      const given = isRefusal(answer) ? null : awaited.asRest(answer, call);
      const refusal = isRefusal(answer) ? answer : refuse("upstream_invalid_response");
      const outcome = given === null || isRefusal(answer) ? refusedOutcome(call, refusal) : answeredOutcome(answer);
      const rest = given ?? surface.streamError(shownRefusal(call, refusal), call, null);
      content.add(rest);
      closeRecord(
        call,
        { ...outcome, status: LATE_STATUS },
        { bytes: content.bytes, ...content.close(storedBodies(call), undefined, call.hidden), headers },
      );
      if (await this.sealed(call)) return inOnePiece(rest, headers);
      this.parts.unrecorded("audit_unavailable");
      return inOnePiece(surface.streamError(refuse("audit_unavailable"), call, null), headers);
    } catch (error) {
      this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
      await sealBroken();
      throw error;
    }
  }

  private streamed(call: Call, surface: Surface, given: StreamAnswer, content: SentContent, sealBroken: () => Promise<boolean>): Streamed {
    this.begin(call, given);
    const answer = withHeldEnd(given);
    const headers = { ...call.answerHeaders, ...answer.headers };
    const end = async ({ failure, abandoned, last, errorReported: wasErrorReported }: StreamEnd): Promise<Uint8Array | null> => {
      const errorFrame = failure === null || wasErrorReported ? null : surface.streamError(failure, call, content.last);
      const tail = answer.bytes !== true ? (errorFrame ?? last) : failure === null ? last : null;
      if (tail !== null) content.add(tail);
      settle(call, streamUsage(answer));
      const { hash, preview } = content.close(storedBodies(call), answer.form, call.hidden);
      closeRecord(call, streamOutcome(answer.status, failure, abandoned), { bytes: content.bytes, hash, preview, headers });
      // The end of an answer that could not be recorded is withheld: the caller sees a torn stream rather than an unrecorded answer.
      if (await this.sealed(call)) return tail;
      this.parts.unrecorded("audit_unavailable");
      if (answer.bytes === true) throw new Error(ERRORS.audit_unavailable.message);
      return surface.streamError(refuse("audit_unavailable"), call, content.last);
    };
    const ended = Promise.withResolvers<void>();
    const body = streamOut(call, answer, {
      idleMs: answer.idleMs ?? this.parts.upstreamTimeoutMs,
      sent: (piece) => (piece === answer.whenSilent ? content.addBeside(piece) : content.add(piece)),
      end: (how) =>
        end(how)
          .catch(async (error: unknown) => {
            this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
            await sealBroken();
            // Tear the stream, so that no client takes it for complete.
            throw error;
          })
          .finally(ended.resolve),
    });
    return { body, headers, ended: ended.promise };
  }

  /** A stream that went to no upstream has no begin marker yet, but its caller gets part of it before the row is stored. */
  private begin(call: Call, { upstream }: StreamAnswer): void {
    if (call.begun) return;
    try {
      this.parts.calls.begin(call);
    } catch (error) {
      void cancelQuietly(upstream);
      throw error;
    }
  }

  /** Also waits for `keeping`, because the caller's next request may reach another process at once. */
  private async sealed(call: Call): Promise<boolean> {
    const [sealed] = await Promise.all([this.parts.calls.seal(call), call.keeping]);
    return sealed;
  }
}

/** The refusal as shown to the caller. */
function shownRefusal(call: Call, refusal: Refusal): Refusal {
  return abortReason(call) === "gateway_interrupted" ? refuse("draining") : (endingRefusal(call) ?? refusal);
}

function inOnePiece(piece: Uint8Array, headers: Streamed["headers"]): Streamed {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(piece);
      controller.close();
    },
  });
  return { body, headers, ended: Promise.resolve() };
}

function streamOutcome(status: number, failure: Refusal | null, abandoned: StreamEnd["abandoned"]): CallOutcome {
  if (abandoned !== null) {
    const errorMessage = abandoned === "client_disconnected" ? "the caller hung up in mid-stream" : "the gateway stopped in mid-stream";
    return { status, errorType: abandoned, errorMessage };
  }
  return failure === null ? { status, errorType: null, errorMessage: null } : { ...callOutcome(failure), status };
}
