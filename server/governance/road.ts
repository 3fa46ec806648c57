import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { StoredAnswers } from "../directory/semantic-cache/stored-answers.ts";
import type { Clock } from "../kernel/clock.ts";
import { type ErrorCode, ERRORS, type Refusal, refuse, unforeseen } from "../kernel/errors.ts";
import { ulid } from "../kernel/ids.ts";
import { placeOf } from "../kernel/ip-address.ts";
import type { Log } from "../kernel/log.ts";
import { sha256Hex } from "../kernel/secrets.ts";
import type { CallLedger } from "../ledger/ledger.ts";
import { admit, type AdmissionParts, type Admits } from "./admit.ts";
import { challenged } from "./authorization/challenged.ts";
import { governToolCalls } from "./argument-policies/govern-answer.ts";
import { type AbortReason, abortReason, type AuditClass, type Call } from "./call.ts";
import type { RequestControl } from "./control.ts";
import { requestControls } from "./controls.ts";
import type { EngineParts, Engines } from "./guardrails/engines.ts";
import { Guardrails } from "./guardrails/guardrails.ts";
import type { Limits } from "./limits/limits.ts";
import { Listeners } from "./listeners.ts";
import type { Notices } from "./notices/notices.ts";
import { settle } from "./metering/settle.ts";
import { DecidingModels } from "./record/deciding-models.ts";
import { type NestedErrand, openNested } from "./nested-call.ts";
import { outputFormOf } from "./output/answer-formats.ts";
import { keptBodies, previewOf, SentContent } from "./record/content.ts";
import { closeRecord, type Outcome, outcomeOf } from "./record/finish.ts";
import { forget } from "./record/forget.ts";
import { noteView } from "./record/note-view.ts";
import { openCall } from "./record/open.ts";
import { isStranger } from "./record/stranger.ts";
import type { Strangers } from "./record/strangers.ts";
import { rowUnderWay } from "./record/under-way.ts";
import { streamUsage } from "./routing/attempt.ts";
import { type Dispatch, dispatch, type DispatchParts } from "./routing/dispatch.ts";
import { readBody } from "./read-body.ts";
import { SemanticPolicies } from "./semantic-policies/semantic-policies.ts";
import { SemanticCache } from "./semantic-cache/semantic-cache.ts";
import { type StreamEnd, streamOut } from "./stream-out.ts";
import { type Answer, isRefusal, ownAnswer, type StreamAnswer, type Surface, type WholeAnswer } from "./surface.ts";

/** One governed route: whose wire it speaks and how its calls are filed. */
export interface GovernedRoute {
  readonly surface: Surface;
  readonly audit: AuditClass;
  /** Whether the request carries a body, and whether it may be packed. */
  readonly body: boolean | "may_be_gzip";
  /** `group` when left out. */
  readonly admits?: Admits;
  /** Largest body, where it is smaller than that of a model call. */
  readonly maxBodyBytes?: number;
}

export interface RoadParts extends AdmissionParts, Omit<DispatchParts, "begin" | "timeoutMs" | "engines"> {
  readonly ledger: CallLedger;
  readonly limits: Limits;
  readonly notices: Pick<Notices, "refer">;
  readonly guardrailEngines: Engines;
  readonly strangers: Strangers;
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly upstreamTimeoutMs: number;
  readonly storedAnswers: StoredAnswers;
  /** Judges where neither a semantic policy nor its tenant names a model; null: none does. */
  readonly judgeModel: string | null;
  /** Told of every call that has ended. */
  readonly observe: (call: Call) => void;
  /** Told of every request that is refused without a row of its own: `draining`, `too_many_strangers`, or `audit_unavailable` where it could not be recorded. */
  readonly unrecorded: (reason: ErrorCode) => void;
}

/**
 * The main road (docs/lifecycle.md). Every governed call of every protocol comes in through `travel` and leaves with
 * exactly one sealed audit row; there is no other way to an upstream.
 */
export class Road {
  private readonly open = new Set<Call>();
  private readonly deciding = new DecidingModels();
  private readonly listeners: Listeners;
  private readonly parts: RoadParts;
  private readonly clock: Clock;
  /** The way to the models, and the same with everything before it that a caller's own call meets. */
  private readonly models: Dispatch;
  private readonly dispatch: Dispatch;
  private readonly cache: SemanticCache;
  private readonly policies: SemanticPolicies;
  private readonly guardrails: Guardrails;
  private readonly controls: readonly RequestControl[];
  private draining = false;
  private whenIdle: (() => void) | null = null;

  constructor(parts: RoadParts) {
    this.parts = parts;
    this.clock = parts.clock;
    this.listeners = new Listeners(parts);
    const engines: EngineParts = { engines: parts.guardrailEngines, nest: (parent, errand) => this.nest(parent, errand) };
    this.models = dispatch({
      ...parts,
      engines,
      begin: (call) => parts.ledger.begin(rowUnderWay(call)),
      timeoutMs: parts.upstreamTimeoutMs,
    });
    this.cache = new SemanticCache({
      stored: parts.storedAnswers,
      clock: parts.clock,
      log: parts.log,
      nest: (parent, errand) => this.nest(parent, errand),
    });
    this.policies = new SemanticPolicies({
      nest: (parent, errand) => this.nest(parent, errand),
      clock: parts.clock,
      log: parts.log,
      fallbackModel: parts.judgeModel,
      idleMs: parts.upstreamTimeoutMs,
    });
    this.guardrails = new Guardrails({ ...engines, idleMs: parts.upstreamTimeoutMs });
    this.controls = requestControls(parts.limits, this.guardrails, this.policies);
    this.dispatch = this.cache.before(this.models);
  }

  async travel(route: GovernedRoute, request: Request, ip: string): Promise<Response> {
    if (this.draining)
      return this.unrecorded(route, refuse("draining", undefined, { headers: { "retry-after": "1", connection: "close" } }));
    if (!this.parts.ledger.accepting(this.open.size))
      return this.unrecorded(route, refuse("audit_unavailable", undefined, { headers: { "retry-after": "5" } }));
    const call = openCall(request, ip, route.audit, this.clock);
    this.open.add(call);
    request.signal.addEventListener("abort", () => call.abort.abort("client_disconnected" satisfies AbortReason), { once: true });
    let answer: Answer | Refusal;
    try {
      answer = await this.pass(call, route);
    } catch (error) {
      this.parts.log.error("call_failed", { call_id: call.id, error: error as Error });
      answer = unforeseen(error);
    }
    try {
      if (isRefusal(answer) && answer.code === "too_many_strangers") return this.ended(call, this.unrecorded(route, answer, call.id));
      return await this.send(call, route, answer);
    } catch (error) {
      this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
      const sealed = await this.sealBroken(call, ERRORS.internal_error.status);
      // Without the surface's own words: they may be what failed.
      const { status, message } = ERRORS[sealed ? "internal_error" : "audit_unavailable"];
      return Response.json(
        { error: message, code: sealed ? "internal_error" : "audit_unavailable" },
        { status, headers: call.answerHeaders },
      );
    }
  }

  private send(call: Call, route: GovernedRoute, answer: Answer | Refusal): Promise<Response> | Response {
    if (isRefusal(answer)) return this.sendRefusal(call, route, answer);
    return answer.kind === "whole" ? this.sendWhole(call, route, answer, answeredOutcome(answer)) : this.sendStream(call, route, answer);
  }

  /** Ends streams of changes whose callers would not be let in any more. */
  checkListeners(): Promise<void> {
    return this.listeners.check();
  }

  /** Takes no more calls, lets those in flight end, and after `graceMs` ends them; resolves when every row is sealed. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    if (this.open.size === 0) return this.cache.settled();
    const idle = new Promise<void>((resolve) => {
      this.whenIdle = resolve;
    });
    const timer = setTimeout(() => {
      for (const call of this.open) call.abort.abort("gateway_interrupted" satisfies AbortReason);
    }, graceMs);
    await idle;
    clearTimeout(timer);
    await this.cache.settled();
  }

  private async pass(call: Call, route: GovernedRoute): Promise<Answer | Refusal> {
    const notAdmitted = await admit(call, route.admits ?? "group", this.parts);
    const turnedAway = isStranger(call) ? this.parts.strangers.turnAway(call) : null;
    if (turnedAway !== null) return turnedAway;
    if (notAdmitted !== null) {
      if (notAdmitted.code === "unauthenticated") await this.parts.strangers.file(call);
      return challenged(notAdmitted, call, this.parts.authorization);
    }
    const referring = this.parts.notices.refer(call);
    if (referring !== null) await referring;

    let body: Uint8Array | null = null;
    if (route.body !== false) {
      const read = await readBody(
        call.request,
        Math.min(route.maxBodyBytes ?? Number.POSITIVE_INFINITY, this.parts.maxBodyBytes),
        route.body === "may_be_gzip",
        isStranger(call) ? placeOf(call.ip) : null,
      );
      if (isRefusal(read)) return read;
      body = read;
      // What people tell the portal of themselves, passwords among it, is neither kept nor hashed.
      if (route.audit.proxyType !== "portal") call.requestContent = read;
      call.row.request_size_bytes = read.byteLength;
    }
    const exchange = route.surface.read(call, body);
    if (isRefusal(exchange)) return exchange;
    noteView(call.row, exchange.view);

    for (const control of this.controls) {
      const decided = control.decide(call, exchange.view);
      const decision = decided instanceof Promise ? await decided : decided;
      if (decision.kind === "refuse") return decision.refusal;
    }
    const guard = this.guardrails.output(call, exchange);
    const resumed = this.parts.limits.resume(call, exchange.view);
    const overLimit = resumed instanceof Promise ? await resumed : resumed;
    if (overLimit !== null) return overLimit;
    const answer = await exchange.answer(call, this.dispatch);
    if (isRefusal(answer) || answer.kind === "whole") settle(call, isRefusal(answer) ? null : answer.usage);
    const guarded = isRefusal(answer) || guard === null ? answer : await guard(answer);
    if (isRefusal(guarded)) return guarded;
    // Each sees what the one before it let through: guardrails have looked, then policies on tool calls, then those in words.
    const governed = governToolCalls(call, exchange, guarded);
    if (isRefusal(governed)) return governed;
    if (governed.kind === "stream" && exchange.view.tool?.listens === true)
      return this.listeners.follow(call, route.admits ?? "group", exchange.view, governed);
    const judged = await this.policies.judgeAnswer(call, exchange, governed);
    return !isRefusal(judged) && judged.kind === "stream" && exchange.conversation !== undefined
      ? { ...judged, form: outputFormOf(exchange.conversation) }
      : judged;
  }

  /** A call of the gateway's own, with its row: see `Nest`. */
  private async nest(parent: Call, errand: NestedErrand): Promise<WholeAnswer | Refusal> {
    const call = openNested(parent, errand, this.clock);
    this.open.add(call);
    const { signal } = parent.abort;
    const follow = () => call.abort.abort(signal.reason);
    if (errand.endsWithParent) {
      if (signal.aborted) follow();
      else signal.addEventListener("abort", follow, { once: true });
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    let answer: WholeAnswer | Refusal;
    try {
      const overLimit = await this.parts.limits.enterNested(call, parent, {
        bodyBytes: errand.body.byteLength,
        outputTokens: errand.outputTokens,
        waitMs: errand.waitMs,
        lends: errand.endsWithParent,
      });
      timer = setTimeout(() => call.abort.abort("upstream_timeout" satisfies AbortReason), errand.timeoutMs);
      const given = overLimit ?? (await errand.send(call, this.models));
      answer = isRefusal(given) || given.kind === "whole" ? given : refuse("upstream_invalid_response");
    } catch (error) {
      this.parts.log.error("call_failed", { call_id: call.id, error: error as Error });
      answer = unforeseen(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", follow);
    }
    settle(call, isRefusal(answer) ? null : answer.usage);
    errand.settled?.(call, answer);
    if (errand.unkept === true) forget(call);
    const body = isRefusal(answer) ? new Uint8Array(0) : answer.body;
    const outcome: Outcome = isRefusal(answer) ? refusedOutcome(call, answer) : answeredOutcome(answer);
    closeRecord(call, outcome, {
      bytes: body.byteLength,
      hash: sha256Hex(body),
      preview: errand.unkept === true ? null : previewOf(body, keptBodies(call)),
      headers: {},
    });
    return (await this.seal(call)) ? answer : refuse("audit_unavailable");
  }

  private sendRefusal(call: Call, route: GovernedRoute, refusal: Refusal): Promise<Response> | Response {
    const shown = abortReason(call) === "gateway_interrupted" ? refuse("draining") : refusal;
    const { headers, body } = route.surface.refusal(shown, call);
    const { status, retry } = ERRORS[shown.code];
    // Official clients try again by the status alone, unless they are told.
    const inVain: Record<string, string> =
      !retry && (status === 409 || status === 429 || status >= 500) ? { "x-should-retry": "false" } : {};
    return this.sendWhole(call, route, ownAnswer(status, { ...headers, ...inVain, ...shown.headers }, body), refusedOutcome(call, refusal));
  }

  private async sendWhole(
    call: Call,
    route: GovernedRoute,
    { status, headers: ownHeaders, body }: WholeAnswer,
    outcome: Outcome,
  ): Promise<Response> {
    const headers = { ...call.answerHeaders, ...ownHeaders };
    closeRecord(call, outcome, { bytes: body.byteLength, hash: sha256Hex(body), preview: previewOf(body, keptBodies(call)), headers });
    const sealed = await this.seal(call);
    if (!sealed) return this.unrecorded(route, refuse("audit_unavailable"), call.id);
    return new Response(body as Uint8Array<ArrayBuffer>, { status, headers });
  }

  private sendStream(call: Call, route: GovernedRoute, answer: StreamAnswer): Response {
    const headers = { ...call.answerHeaders, ...answer.headers };
    const content = new SentContent(keptBodies(call) !== "none");
    const end = async ({ failure, abandoned, last, told }: StreamEnd): Promise<Uint8Array | null> => {
      const errorFrame = failure === null || told ? null : route.surface.streamError(failure, call, content.last);
      const tail = errorFrame ?? last;
      if (tail !== null) content.add(tail);
      settle(call, streamUsage(answer));
      const outcome: Outcome =
        abandoned !== null
          ? {
              status: answer.status,
              errorType: abandoned,
              errorMessage: abandoned === "client_disconnected" ? "the caller hung up in mid-stream" : "the gateway stopped in mid-stream",
            }
          : failure !== null
            ? { ...outcomeOf(failure), status: answer.status }
            : { status: answer.status, errorType: null, errorMessage: null };
      const { hash, preview } = content.close(keptBodies(call), answer.form);
      closeRecord(call, outcome, { bytes: content.bytes, hash, preview, headers });
      // The end of an answer that could not be recorded is withheld: the caller sees a torn stream, not an unproven one.
      if (await this.seal(call)) return tail;
      this.parts.unrecorded("audit_unavailable");
      return route.surface.streamError(refuse("audit_unavailable"), call, content.last);
    };
    const stream = streamOut(call, answer, {
      idleMs: answer.idleMs ?? this.parts.upstreamTimeoutMs,
      sent: (piece) => content.add(piece),
      end: (how) =>
        end(how).catch(async (error: unknown) => {
          this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
          await this.sealBroken(call, answer.status);
          // A torn stream, which no client takes for a whole one.
          throw error;
        }),
    });
    return new Response(stream, { status: answer.status, headers });
  }

  /** The row of a call whose end could not be told as it should, so that it has one all the same. `status` is the one sent. True when it has. */
  private async sealBroken(call: Call, status: number): Promise<boolean> {
    if (!this.open.has(call)) return true;
    Object.assign(call.row, {
      http_status_code: status,
      success: false,
      error_type: "internal_error",
      error_message: "the answer could not be given",
      duration_ms: Math.round(performance.now() - call.arrivedAt),
    } satisfies AuditRow);
    return this.seal(call);
  }

  private ended(call: Call, response: Response): Response {
    this.open.delete(call);
    if (this.open.size === 0) this.whenIdle?.();
    return response;
  }

  /** What left no room for its record leaves no trace but a count, and gets no service. */
  private unrecorded(route: GovernedRoute, refusal: Refusal, id: string = ulid()): Response {
    this.parts.unrecorded(refusal.code);
    const { headers, body } = route.surface.refusal(refusal, null);
    return new Response(body, { status: ERRORS[refusal.code].status, headers: { "x-request-id": id, ...headers, ...refusal.headers } });
  }

  /** False when the row could not be stored: then the answer must not be given. */
  private async seal(call: Call): Promise<boolean> {
    try {
      try {
        this.deciding.note(call);
        // Counted first: what is on the record is always counted. What a kill leaves counted and not recorded is put right
        // once its row is there.
        const settling = this.parts.limits.settle(call);
        if (settling !== null) await settling;
      } catch (error) {
        // A fault in counting must not cost the row.
        this.parts.log.error("call_not_counted", { call_id: call.id, error: error as Error });
      }
      // One that never left came and went in a moment, and the next may have come in the same.
      await this.parts.ledger.seal(call.row, this.open.size === 1 && call.row.target_url != null);
      this.parts.limits.sealed(call);
      return true;
    } catch (error) {
      this.parts.log.error("row_not_sealed", { call_id: call.id, error: error as Error });
      return false;
    } finally {
      this.open.delete(call);
      for (const told of call.whenEnded) told(call.row.error_type ?? null);
      this.parts.observe(call);
      if (this.open.size === 0) this.whenIdle?.();
    }
  }
}

function answeredOutcome({ status, failure }: WholeAnswer): Outcome {
  return { status, errorType: failure === null ? null : "upstream_rejected", errorMessage: failure };
}

/** What a refusal came to: where the caller or the gateway went away meanwhile, that is why there is no answer. */
function refusedOutcome(call: Call, refusal: Refusal): Outcome {
  const why = abortReason(call);
  if (why === "client_disconnected") return { status: 499, errorType: why, errorMessage: "the caller hung up before the answer" };
  if (why === "gateway_interrupted") return { status: 503, errorType: why, errorMessage: "the gateway stopped before the answer" };
  return outcomeOf(refusal);
}
