import type { Clock } from "../kernel/clock.ts";
import { type Refusal, isRefusal, refuse } from "../kernel/errors.ts";
import { internalErrorOf } from "../kernel/internal-error.ts";
import type { Log } from "../kernel/log.ts";
import { Roster } from "../kernel/collections/roster.ts";
import type { CallLedger } from "../ledger/ledger.ts";
import type { WholeAnswer } from "./answer.ts";
import type { CallLimits } from "./call-limits.ts";
import type { AbortReason, AuditClass, Call } from "./call.ts";
import { settle } from "./metering/settle.ts";
import { type NestedCall, openNested } from "./own-calls/nested-call.ts";
import { complianceTags } from "./record/compliance-tags.ts";
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

/** The calls in flight. Each is registered here once and leaves through `seal` with its audit row. */
export class OpenCalls {
  private readonly open = new Roster<Call>();
  private readonly deciding = new DecidingModels();
  private readonly parts: OpenCallsParts;
  private whenIdle: (() => void) | null = null;
  /** When the last interactive (non-batch) call arrived, in monotonic milliseconds. */
  lastWaitedFor = Number.NEGATIVE_INFINITY;

  /**
   * Open calls whose bodies are still arriving. They do not count against the record's capacity, so that slow senders cannot block everyone
   * else.
   */
  arriving = 0;

  constructor(parts: OpenCallsParts) {
    this.parts = parts;
  }

  /** Whether one more call can be recorded. */
  get accepting(): boolean {
    return this.parts.ledger.accepting(this.open.size - this.arriving);
  }

  /** `resumed`: ID and time of a call that continues after its provider answered it in a batch. */
  start(arrival: Arrival, ip: string, audit: AuditClass, resumed?: ResumedCall): Call {
    const call = openCall(arrival, ip, audit, this.parts.clock, resumed);
    this.open.add(call);
    if (audit.proxyType !== "batch") this.lastWaitedFor = call.arrivedAt;
    return call;
  }

  has(call: Call): boolean {
    return this.open.has(call);
  }

  /** Open calls of a user; null for all calls of the tenant's users made as themselves. */
  openOf(tenantId: string, userId: string | null): Call[] {
    return this.open.all().filter(({ user }) => user !== null && user.tenant_id === tenantId && (userId === null || user.id === userId));
  }

  openIn(tenantId: string): Call[] {
    return this.open.all().filter((call) => call.tenant?.id === tenantId);
  }

  tenantsOfOpen(): Set<string> {
    return new Set(this.open.all().flatMap(({ tenant }) => (tenant === null ? [] : [tenant.id])));
  }

  /** Open calls made with this key. */
  openWith(tenantId: string, credentialId: string): Call[] {
    return this.open.all().filter(({ identity }) => identity?.tenantId === tenantId && identity.credentialId === credentialId);
  }

  /** Writes the begin marker. Throws if calls can no longer be recorded. */
  begin(call: Call): void {
    call.row.compliance_tags = complianceTags(call.row, call) ?? call.row.compliance_tags ?? null;
    this.parts.ledger.begin(beginMarkerRow(call));
    call.begun = true;
  }

  /** Releases a call that continues when its provider's batch comes back; its row is sealed then. On a refusal it must not leave. */
  async leave(call: Call): Promise<Refusal | null> {
    const refusal = await this.parts.limits.left.leave(call);
    if (refusal === null) {
      this.forget(call);
      // Release what was held for sending it; success or failure is reported when it comes back.
      for (const callback of call.whenEnded.splice(0)) callback("left_in_batch");
    }
    return refusal;
  }

  /** Releases the limit holds of calls that left, except for those still away. */
  release(away: ReadonlySet<string>): void {
    this.parts.limits.left.release(away);
  }

  /** Drops a call that gets no row of its own. */
  forget(call: Call): void {
    this.open.delete(call);
    if (this.open.size === 0) this.whenIdle?.();
  }

  /** Resolves when no call is open. After `graceMs`, calls still open are aborted. */
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

  /** Settles the limits and seals the row. False if the row could not be stored: the answer must not be sent then. */
  async seal(call: Call): Promise<boolean> {
    const { ledger, limits, log } = this.parts;
    try {
      try {
        this.deciding.note(call);
        // Count before sealing, so that recorded usage is always counted. After a crash in between, recovery of the row corrects the
        // counters.
        const settling = limits.settle(call);
        if (settling !== null) await settling;
      } catch (error) {
        // A counting error must not cost the row.
        log.error("call_not_counted", { call_id: call.id, error: error as Error });
      }
      // A call that reached no upstream took only a moment, so more of its kind may be about to arrive: no immediate sync.
      await ledger.seal(call.row, this.open.size === 1 && call.row.target_url != null);
      limits.sealed(call);
      return true;
    } catch (error) {
      log.error("row_not_sealed", { call_id: call.id, error: error as Error });
      return false;
    } finally {
      this.open.delete(call);
      for (const callback of call.whenEnded) callback(call.row.error_type ?? null);
      this.parts.observe(call);
      if (this.open.size === 0) this.whenIdle?.();
    }
  }

  /** Makes a nested call with its own row; see `MakeNestedCall`. */
  async nest(parent: Call, nested: NestedCall): Promise<WholeAnswer | Refusal> {
    const call = openNested(parent, nested, this.parts.clock);
    this.open.add(call);
    const answer = await this.askNested(call, parent, nested);
    settle(call, isRefusal(answer) ? null : answer.usage);
    nested.settled?.(call, answer);
    if (nested.hashesOnly === true) withholdContent(call);
    if (isRefusal(answer)) closeRecord(call, refusedOutcome(call, answer), null);
    else
      closeRecord(
        call,
        answeredOutcome(answer),
        wholeSent(call, answer.body, nested.hashesOnly === true ? "none" : storedBodies(call), {}),
      );
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
