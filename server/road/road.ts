import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { type ErrorCode, ERRORS, isRefusal, type Refusal, refuse } from "../kernel/errors.ts";
import { internalErrorOf } from "../kernel/internal-error.ts";
import { ulid } from "../kernel/ids.ts";
import { networkOf } from "../kernel/http/ip-address.ts";
import { keptBody } from "../kernel/http/kept-body.ts";
import { admit } from "./admission/admit.ts";
import type { Answer } from "./answer.ts";
import type { AbortReason, Call } from "./call.ts";
import { answeredOrLate, type LateAnswer } from "./send/late-answer.ts";
import { readBody } from "./request/read-body.ts";
import { answeredOutcome } from "./record/finish.ts";
import { forgetCaller } from "./record/forget-caller.ts";
import { noteNamedModel } from "./record/named-model.ts";
import { isUnauthenticated } from "./record/unauthenticated.ts";
import type { GovernedRoute, RoadParts } from "./road-parts.ts";
import { LATE_STATUS, Sender } from "./send/sender.ts";

/** The answer to a call that cannot be recorded; such a call has no row. */
const NO_ROOM = refuse("audit_unavailable", undefined, { headers: { "retry-after": "5" } });

const READS_ONLY: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Errors of calls whose credential was checked and rejected. */
const FAILED_AUTHENTICATION: ReadonlySet<ErrorCode> = new Set([
  "unauthenticated",
  "inactive_user",
  "api_key_suspended",
  "address_not_allowed",
]);

/**
 * The path of every governed call of every protocol (docs/lifecycle.md). A call enters through `handle` and leaves with exactly one sealed
 * audit row; there is no other way to an upstream.
 */
export class Road {
  private readonly parts: RoadParts;
  private readonly sender: Sender;
  private draining = false;

  constructor(parts: RoadParts) {
    this.parts = parts;
    this.sender = new Sender(parts);
  }

  async handle(route: GovernedRoute, request: Request, ip: string): Promise<Response> {
    const { calls } = this.parts;
    if (this.draining)
      return this.withoutRow(route, refuse("draining", undefined, { headers: { "retry-after": "1", connection: "close" } }));
    if (!calls.accepting) return this.withoutRow(route, NO_ROOM);
    const call = calls.start(request, ip, route.audit);
    if (route.authenticates === true) call.row.is_auth_event = true;
    request.signal.addEventListener("abort", () => call.abort.abort("client_disconnected" satisfies AbortReason), { once: true });
    let answer: Answer | Refusal | LateAnswer;
    try {
      answer = await this.answered(call, route, request);
    } catch (error) {
      this.parts.log.error("call_failed", { call_id: call.id, error: error as Error });
      answer = internalErrorOf(error);
    }
    try {
      if (isRefusal(answer) && (answer === NO_ROOM || answer.code === "too_many_strangers")) {
        calls.forget(call);
        return this.withoutRow(route, answer, call.id);
      }
      if (call.tenant === null) await this.parts.strangers.file(call);
      // Also counts failures after admission: the portal checks passwords itself.
      if (isRefusal(answer) && answer.code === "unauthenticated") this.parts.strangers.refused(call);
      return await this.send(call, route, answer);
    } catch (error) {
      this.parts.log.error("answer_failed", { call_id: call.id, error: error as Error });
      const sealed = await this.sealBroken(call, ERRORS.internal_error.status);
      // Not written by the surface, whose code may be what failed.
      const { status, message } = ERRORS[sealed ? "internal_error" : "audit_unavailable"];
      return Response.json(
        { error: message, code: sealed ? "internal_error" : "audit_unavailable" },
        { status, headers: call.answerHeaders },
      );
    }
  }

  /** Accepts no more calls and lets those in flight end, aborting them after `graceMs`. Resolves when every row is sealed. */
  drain(graceMs: number): Promise<void> {
    this.draining = true;
    return this.parts.calls.ended(graceMs);
  }

  private async answered(call: Call, route: GovernedRoute, request: Request): Promise<Answer | Refusal | LateAnswer> {
    const vouchedFor = route.surface.vouchesFor?.(call) === true;
    const notAdmitted = vouchedFor ? null : await admit(call, route.admits ?? "group", this.parts);
    const turnedAway = !vouchedFor && isUnauthenticated(call) ? this.parts.strangers.turnAway(call) : null;
    if (turnedAway !== null) return turnedAway;
    if (notAdmitted !== null) {
      if (FAILED_AUTHENTICATION.has(notAdmitted.code)) call.row.is_auth_event = true;
      return route.surface.notAdmitted?.(notAdmitted, call) ?? notAdmitted;
    }
    if (route.withoutCaller === true) forgetCaller(call);
    const noting = this.parts.admitted(call);
    if (noting !== null) await noting;

    let body: Uint8Array | null = null;
    if (route.body === "streamed") {
      if (request.body !== null) call.arriving = keptBody(request.body);
    } else if (route.body !== false) {
      const most = Math.min(route.maxBodyBytes ?? Number.POSITIVE_INFINITY, this.parts.maxBodyBytes);
      const read = await this.bodyOf(call, request, most, route.body === "may_be_gzip");
      if (isRefusal(read)) return read;
      body = read;
      // Requests to the portal may contain passwords: they are neither stored nor hashed.
      if (route.audit.proxyType !== "portal") call.requestContent = read;
      call.row.request_size_bytes = read.byteLength;
    }
    const reading = route.surface.read(call, body);
    const exchange = reading instanceof Promise ? await reading : reading;
    if (isRefusal(exchange)) {
      if (exchange.code === "invalid_body") noteNamedModel(call, body);
      return exchange;
    }
    // A request that goes to no upstream may change something here, so it must leave a trace even if the process dies.
    if (exchange.view.target.kind === "none" && !READS_ONLY.has(call.method) && call.identity !== null) this.parts.calls.begin(call);
    return answeredOrLate(call, exchange, this.parts.govern);
  }

  private async bodyOf(call: Call, request: Request, most: number, mayBeGzip: boolean): Promise<Uint8Array | Refusal> {
    const { bodies, calls } = this.parts;
    const place = isUnauthenticated(call) ? networkOf(call.ip) : null;
    calls.arriving++;
    try {
      const read = await readBody(request, most, { mayBeGzip, place, sender: call.tenant?.id, bodies });
      // Capacity was not reserved while the body was arriving.
      return isRefusal(read) || calls.accepting ? read : NO_ROOM;
    } finally {
      calls.arriving--;
    }
  }

  private async send(call: Call, { surface }: GovernedRoute, answer: Answer | Refusal | LateAnswer): Promise<Response> {
    if (!isRefusal(answer) && answer.kind === "late")
      return this.sender.late(call, surface, answer, () => this.sealBroken(call, LATE_STATUS));
    if (!isRefusal(answer) && answer.kind === "stream")
      return this.sender.stream(call, surface, answer, () => this.sealBroken(call, answer.status));
    const response = isRefusal(answer)
      ? await this.sender.refusal(call, surface, answer)
      : await this.sender.whole(call, answer, answeredOutcome(answer));
    return response ?? this.withoutRow({ surface }, refuse("audit_unavailable"), call.id);
  }

  /**
   * Seals an `internal_error` row for a call that could not be finished normally, so that it has one. `status`: the status sent. True if
   * the call has a row.
   */
  private async sealBroken(call: Call, status: number): Promise<boolean> {
    if (!this.parts.calls.has(call)) return true;
    Object.assign(call.row, {
      http_status_code: status,
      success: false,
      error_type: "internal_error",
      error_message: "the answer could not be given",
      duration_ms: Math.round(performance.now() - call.arrivedAt),
    } satisfies AuditRow);
    return this.parts.calls.seal(call);
  }

  /** Refuses a call that cannot be recorded; only a counter notes it. */
  private withoutRow({ surface }: Pick<GovernedRoute, "surface">, refusal: Refusal, id: string = ulid()): Response {
    this.parts.unrecorded(refusal.code);
    const { headers, body } = surface.refusal(refusal, null);
    return new Response(body, { status: ERRORS[refusal.code].status, headers: { "x-request-id": id, ...headers, ...refusal.headers } });
  }
}
