import { type ErrorCode, ERRORS, type Refusal, refuse } from "../kernel/errors.ts";
import { cancelQuietly } from "../kernel/http/cancel-quietly.ts";
import type { Log } from "../kernel/log.ts";
import { waitsForOthers } from "../kernel/scheduling/waiting-answers.ts";
import { ownAnswer, type StreamAnswer, type WholeAnswer } from "./answer.ts";
import { abortReason, type Call, endingRefusal } from "./call.ts";
import { settle } from "./metering/settle.ts";
import { streamUsage } from "./metering/stream-usage.ts";
import type { OpenCalls } from "./open-calls.ts";
import { storedBodies, SentContent } from "./record/content.ts";
import { closeRecord, type CallOutcome, callOutcome, refusedOutcome, wholeSent } from "./record/finish.ts";
import { withHeldEnd } from "./output/held-end.ts";
import { type StreamEnd, streamOut } from "./stream-out.ts";
import type { Surface } from "./surface.ts";

export interface SenderParts {
  readonly calls: OpenCalls;
  readonly log: Log;
  /** Longest silence of an upstream in a stream that says none of its own. */
  readonly upstreamTimeoutMs: number;
  /** Told of every call that was refused its answer because it could not be recorded. */
  readonly unrecorded: (reason: ErrorCode) => void;
}

/** Sends answers to callers, each once its row is on stable storage and what later calls need of it can be found. */
export class Sender {
  private readonly parts: SenderParts;

  constructor(parts: SenderParts) {
    this.parts = parts;
  }

  /** Null where the row could not be stored: then the answer must not be given. */
  refusal(call: Call, surface: Surface, refusal: Refusal): Promise<Response | null> {
    const why = abortReason(call);
    const shown = why === "gateway_interrupted" ? refuse("draining") : (endingRefusal(call) ?? refusal);
    const { retry, status: usual } = ERRORS[shown.code];
    const { headers, body, status = usual } = surface.refusal(shown, call);
    // Official clients retry on the status alone, unless a header forbids it.
    const inVain: Record<string, string> =
      !retry && (status === 409 || status === 429 || status >= 500) ? { "x-should-retry": "false" } : {};
    // A refusal that knows how to get a credential says so itself.
    const challenge: Record<string, string> = status === 401 ? { "www-authenticate": "Bearer" } : {};
    const outcome = refusedOutcome(call, refusal);
    const told = outcome.status === usual ? { ...outcome, status } : outcome;
    return this.whole(call, ownAnswer(status, { ...headers, ...inVain, ...challenge, ...shown.headers }, body), told);
  }

  /** Null where the row could not be stored: then the answer must not be given. */
  async whole(call: Call, { status, headers: ownHeaders, body }: WholeAnswer, outcome: CallOutcome): Promise<Response | null> {
    const headers = { ...call.answerHeaders, ...ownHeaders };
    closeRecord(call, outcome, wholeSent(body, storedBodies(call), headers));
    return (await this.sealed(call)) ? new Response(body as Uint8Array<ArrayBuffer>, { status, headers }) : null;
  }

  /** `sealBroken` seals the row of a call whose end cannot be told. */
  stream(call: Call, surface: Surface, given: StreamAnswer, sealBroken: () => Promise<boolean>): Response {
    this.begin(call, given);
    const answer = withHeldEnd(given);
    const headers = { ...call.answerHeaders, ...answer.headers };
    const content = new SentContent(storedBodies(call) !== "none");
    const end = async ({ failure, abandoned, last, errorReported: told }: StreamEnd): Promise<Uint8Array | null> => {
      const errorFrame = failure === null || told ? null : surface.streamError(failure, call, content.last);
      const tail = answer.bytes !== true ? (errorFrame ?? last) : failure === null ? last : null;
      if (tail !== null) content.add(tail);
      settle(call, streamUsage(answer));
      const { hash, preview } = content.close(storedBodies(call), answer.form);
      closeRecord(call, streamOutcome(answer.status, failure, abandoned), { bytes: content.bytes, hash, preview, headers });
      // The end of an answer that could not be recorded is withheld: the caller sees a torn stream, not an unproven one.
      if (await this.sealed(call)) return tail;
      this.parts.unrecorded("audit_unavailable");
      if (answer.bytes === true) throw new Error(ERRORS.audit_unavailable.message);
      return surface.streamError(refuse("audit_unavailable"), call, content.last);
    };
    const ended = Promise.withResolvers<void>();
    const stream = streamOut(call, answer, {
      idleMs: answer.idleMs ?? this.parts.upstreamTimeoutMs,
      sent: (piece) => (piece === answer.whenSilent ? content.addBeside(piece) : content.add(piece)),
      end: (how) =>
        end(how)
          .catch(async (error: unknown) => {
            this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
            await sealBroken();
            // A torn stream, which no client takes for a whole one.
            throw error;
          })
          .finally(ended.resolve),
    });
    const response = new Response(stream, { status: answer.status, headers });
    // A file is there: only its reader can be slow.
    return answer.bytes === true ? response : waitsForOthers(response, ended.promise);
  }

  /** What left for nobody has no begin marker yet, and its caller is about to have some of its answer before its row is stored. */
  private begin(call: Call, { upstream }: StreamAnswer): void {
    if (call.begun) return;
    try {
      this.parts.calls.begin(call);
    } catch (error) {
      void cancelQuietly(upstream);
      throw error;
    }
  }

  /** The caller's next request may come to another process at once. */
  private async sealed(call: Call): Promise<boolean> {
    const [sealed] = await Promise.all([this.parts.calls.seal(call), call.keeping]);
    return sealed;
  }
}

function streamOutcome(status: number, failure: Refusal | null, abandoned: StreamEnd["abandoned"]): CallOutcome {
  if (abandoned !== null) {
    const errorMessage = abandoned === "client_disconnected" ? "the caller hung up in mid-stream" : "the gateway stopped in mid-stream";
    return { status, errorType: abandoned, errorMessage };
  }
  return failure === null ? { status, errorType: null, errorMessage: null } : { ...callOutcome(failure), status };
}
