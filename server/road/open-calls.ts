import type { Clock } from "../kernel/clock.ts";
import { type Refusal, isRefusal, refuse, internalErrorOf } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { Roster } from "../kernel/collections/roster.ts";
import type { CallLedger } from "../ledger/ledger.ts";
import type { WholeAnswer } from "./answer.ts";
import type { CallLimits } from "./call-limits.ts";
import type { AbortReason, AuditClass, Call } from "./call.ts";
import { settle } from "./metering/settle.ts";
import { type NestedCall, openNested } from "./nested-call.ts";
import { storedBodies } from "./record/content.ts";
import { DecidingModels } from "./record/deciding-models.ts";
import { answeredOutcome, closeRecord, refusedOutcome, wholeSent } from "./record/finish.ts";
import { withholdContent } from "./record/withhold-content.ts";
import { type Arrival, type ResumedCall, openCall } from "./record/open.ts";
import { beginMarkerRow } from "./record/begin-marker.ts";

export interface OpenCallsParts {
  readonly ledger: CallLedger;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for every call that has ended. */
  readonly observe: (call: Call) => void;
}

/** The calls in flight. Each is opened here once, and leaves through `seal` with its audit row. */
export class OpenCalls {
  private readonly open = new Roster<Call>();
  private readonly deciding = new DecidingModels();
  private readonly parts: OpenCallsParts;
  private whenIdle: (() => void) | null = null;
  /** When somebody last called who waits for the answer; monotonic milliseconds. */
  lastWaitedFor = Number.NEGATIVE_INFINITY;

  /** Open calls whose bodies are still on their way: whoever only begins to send many must not have everybody refused. */
  arriving = 0;

  constructor(parts: OpenCallsParts) {
    this.parts = parts;
  }

  /** Whether the record of one more call can be kept. */
  get accepting(): boolean {
    return this.parts.ledger.accepting(this.open.size - this.arriving);
  }

  /** `resumed`: its id and time, where it goes on after its provider answered it in a batch. */
  start(arrival: Arrival, ip: string, audit: AuditClass, resumed?: ResumedCall): Call {
    const call = openCall(arrival, ip, audit, this.parts.clock, resumed);
    this.open.add(call);
    if (audit.proxyType !== "batch") this.lastWaitedFor = call.arrivedAt;
    return call;
  }

  has(call: Call): boolean {
    return this.open.has(call);
  }

  /** Those of a person; null: of anybody in the tenant who called as themselves. */
  openOf(tenantId: string, userId: string | null): Call[] {
    return this.open.all().filter(({ user }) => user !== null && user.tenant_id === tenantId && (userId === null || user.id === userId));
  }

  /** Those of the tenant. */
  openIn(tenantId: string): Call[] {
    return this.open.all().filter((call) => call.tenant?.id === tenantId);
  }

  tenantsOfOpen(): Set<string> {
    return new Set(this.open.all().flatMap(({ tenant }) => (tenant === null ? [] : [tenant.id])));
  }

  /** Those that came with this key. */
  openWith(tenantId: string, credentialId: string): Call[] {
    return this.open.all().filter(({ identity }) => identity?.tenantId === tenantId && identity.credentialId === credentialId);
  }

  /** The begin marker. Throws when calls can no longer be recorded. */
  begin(call: Call): void {
    this.parts.ledger.begin(beginMarkerRow(call));
    call.begun = true;
  }

  /** It goes on where its provider's batch comes back; its row is sealed then. A refusal means that it must not leave. */
  async leave(call: Call): Promise<Refusal | null> {
    const refusal = await this.parts.limits.left.leave(call);
    if (refusal === null) {
      this.forget(call);
      // What was held for it on its way out is given back; whether it succeeds is another's to tell.
      for (const told of call.whenEnded.splice(0)) told("left_in_batch");
    }
    return refusal;
  }

  /** Gives up what is held for calls that left, but for those that are away. */
  release(away: ReadonlySet<string>): void {
    this.parts.limits.left.release(away);
  }

  /** A call that is to have no row of its own: what tells of it is another one's. */
  forget(call: Call): void {
    this.open.delete(call);
    if (this.open.size === 0) this.whenIdle?.();
  }

  /** Resolves when no call is open. After `graceMs` those that still are are ended. */
  async ended(graceMs: number): Promise<void> {
    if (this.open.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.whenIdle = resolve;
    });
    const timer = setTimeout(() => {
      for (const call of this.open.all()) call.abort.abort("gateway_interrupted" satisfies AbortReason);
    }, graceMs);
    await idle;
    clearTimeout(timer);
  }

  /** False when the row could not be stored: then the answer must not be given. */
  async seal(call: Call): Promise<boolean> {
    const { ledger, limits, log } = this.parts;
    try {
      try {
        this.deciding.note(call);
        // Counted first: what is on the record is always counted. What a kill leaves counted and not recorded is put right
        // once its row is there.
        const settling = limits.settle(call);
        if (settling !== null) await settling;
      } catch (error) {
        // A fault in counting must not cost the row.
        log.error("call_not_counted", { call_id: call.id, error: error as Error });
      }
      // One that never left came and went in a moment, and the next may have come in the same.
      await ledger.seal(call.row, this.open.size === 1 && call.row.target_url != null);
      limits.sealed(call);
      return true;
    } catch (error) {
      log.error("row_not_sealed", { call_id: call.id, error: error as Error });
      return false;
    } finally {
      this.open.delete(call);
      for (const told of call.whenEnded) told(call.row.error_type ?? null);
      this.parts.observe(call);
      if (this.open.size === 0) this.whenIdle?.();
    }
  }

  /** A call of the gateway's own, with its row: see `MakeNestedCall`. */
  async nest(parent: Call, nested: NestedCall): Promise<WholeAnswer | Refusal> {
    const call = openNested(parent, nested, this.parts.clock);
    this.open.add(call);
    const answer = await this.askNested(call, parent, nested);
    settle(call, isRefusal(answer) ? null : answer.usage);
    nested.settled?.(call, answer);
    if (nested.hashesOnly === true) withholdContent(call);
    if (isRefusal(answer)) closeRecord(call, refusedOutcome(call, answer), null);
    else closeRecord(call, answeredOutcome(answer), wholeSent(answer.body, nested.hashesOnly === true ? "none" : storedBodies(call), {}));
    return (await this.seal(call)) ? answer : refuse("audit_unavailable");
  }

  private async askNested(call: Call, parent: Call, nested: NestedCall): Promise<WholeAnswer | Refusal> {
    const { signal } = parent.abort;
    const follow = () => {
      if (parent.endedBy !== undefined) call.endedBy = parent.endedBy;
      call.abort.abort(signal.reason);
    };
    if (nested.endsWithParent) {
      if (signal.aborted) follow();
      else signal.addEventListener("abort", follow, { once: true });
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const overLimit = await this.parts.limits.enterNested(call, parent, {
        bodyBytes: nested.body.byteLength,
        outputTokens: nested.outputTokens,
        waitMs: nested.waitMs,
        parentWaits: nested.endsWithParent,
      });
      timer = setTimeout(() => call.abort.abort("upstream_timeout" satisfies AbortReason), nested.timeoutMs);
      const given = overLimit ?? (await nested.send(call));
      return isRefusal(given) || given.kind === "whole" ? given : refuse("upstream_invalid_response");
    } catch (error) {
      this.parts.log.error("call_failed", { call_id: call.id, error: error as Error });
      return internalErrorOf(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", follow);
    }
  }
}
