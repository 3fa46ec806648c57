import { noteLabels } from "../record/labels.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { internalErrorOf } from "../../kernel/internal-error.ts";
import type { Log } from "../../kernel/log.ts";
import { admitHolder, type AdmissionParts } from "../admission/admit.ts";
import type { Holder } from "../admission/gateway-tokens.ts";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Answer, WholeAnswer } from "../answer.ts";
import { type Departure, LeftInBatch } from "./batched.ts";
import { type AuditClass, abortReason, type Call } from "../call.ts";
import type { StandingControl } from "../control.ts";
import type { Govern } from "../govern.ts";
import type { OpenCalls } from "../open-calls.ts";
import { answeredOutcome, type CallOutcome, closeRecord, noteRequest, refusedOutcome } from "../record/finish.ts";
import { Sender } from "../send/sender.ts";
import type { ResumedCall } from "../record/open.ts";
import type { Exchange, Surface } from "../surface.ts";

/** A call made for a caller without an HTTP request of its own, such as a line of a batch job. */
export interface BackgroundRequest {
  readonly surface: Surface;
  readonly audit: AuditClass;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The caller's address when they submitted the work. */
  readonly ip: string;
  readonly holder: Holder;
  readonly groupId: string;
  readonly parentId: string;
  readonly rootTaskId: string | null;
  /** Written into the row's `custom_metadata`: the job it belongs to. */
  readonly noted: Readonly<Record<string, unknown>>;
}

interface RecordedEvent extends Omit<BackgroundRequest, "surface" | "body" | "holder" | "groupId"> {
  /** Further fields of the row, added only if `claim` assigned the event to this process. */
  readonly fields?: Partial<AuditRow>;
  /**
   * Called with the row's ID after its begin marker and before the row is written. False: another process reports the event, and this row
   * leaves out the event's fields. If this process dies afterwards, recovery of its journal writes the row as interrupted.
   */
  readonly claim?: (rowId: string) => Promise<boolean>;
}

/** Who the row is attributed to. */
interface EventOwner {
  readonly tenantId: string;
  readonly groupId: string;
  readonly keyId: string | null;
  readonly userId: string | null;
}

export interface BackgroundAnswer {
  readonly id: string;
  readonly status: number;
  readonly body: string;
  /** As in the row; null if the call succeeded. */
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  /** False if the caller would no longer be admitted. */
  readonly admitted: boolean;
  /** Whether the process stopped before the answer arrived. */
  readonly interrupted: boolean;
  /** Set if the call was refused before any upstream was asked. */
  readonly refusal: Refusal | null;
}

/** A batch line that passed every control and is to be answered by its provider in a batch: everything needed to finish its call later. */
export interface SuspendedLine {
  readonly departure: Departure;
  readonly id: string;
  readonly timestamp: string;
  /** The row so far. */
  readonly row: AuditRow;
  /** The request body after the controls' changes. */
  readonly asked: string;
  /** The model the line was sent to, if this process still has it. */
  readonly model?: ModelEntry | null;
}

/** The provider's answer to a suspended line, or the reason why there is none. */
export type ProviderResult = { readonly status: number; readonly body: string } | Refusal;

interface BackgroundParts extends AdmissionParts {
  readonly calls: OpenCalls;
  readonly govern: Govern;
  /** `govern` for answers that come back from a provider's batch: runs the answer controls only. */
  readonly give: Govern;
  /** The request controls that decide access. */
  readonly standing: readonly StandingControl[];
  readonly log: Log;
  readonly upstreamTimeoutMs: number;
  readonly unrecorded: (reason: Refusal["code"]) => void;
}

const NOT_CLAIMED: CallOutcome = {
  status: 503,
  errorType: "gateway_interrupted",
  errorMessage: "another process had told it, or nobody could be asked",
};

/** Refusals that say nothing about the caller, only that the directory could not be asked. */
const OF_THE_MOMENT: ReadonlySet<Refusal["code"]> = new Set(["directory_unavailable", "database_unavailable"]);

/** Makes calls without an HTTP request, on the same path as every other call: admitted, governed and sealed, each with its row. */
export class BackgroundCalls {
  private readonly parts: BackgroundParts;
  private readonly sender: Sender;

  constructor(parts: BackgroundParts) {
    this.parts = parts;
    this.sender = new Sender(parts);
  }

  /**
   * Makes one call. Returns null if it could not be recorded; it was not served then. With `batched`, the call stops where it would be sent
   * and what `finish` needs is returned, unless it was answered before that.
   */
  async run(request: BackgroundRequest, batched = false): Promise<BackgroundAnswer | SuspendedLine | null> {
    const { calls, log } = this.parts;
    if (!calls.accepting) return null;
    const call = calls.start({ method: "POST", url: `http://gateway${request.path}`, headers: request.headers }, request.ip, request.audit);
    const notAdmitted = await admitHolder(call, request.holder, this.parts).catch(internalErrorOf);
    note(call, request);
    if (batched) call.batched = { kind: "leaving", departed: null };
    let answer: Answer | Refusal = notAdmitted ?? refuse("internal_error");
    if (notAdmitted === null) {
      try {
        const governed = await this.governed(call, request);
        if ("departure" in governed) return governed;
        answer = governed;
      } catch (error) {
        log.error("call_failed", { call_id: call.id, error: error as Error });
        answer = internalErrorOf(error);
      }
    }
    return this.sealed(call, request, answer, notAdmitted === null);
  }

  /**
   * Finishes a call that left in a provider's batch: runs the answer controls and seals the row. Returns null if the row could not be
   * recorded or the caller could not be looked up; the answer has to be delivered later then. `recorded`: the row was already sealed, by a
   * process that died before it could note that.
   */
  async finish(
    request: BackgroundRequest,
    left: SuspendedLine,
    result: ProviderResult,
    recorded: boolean,
  ): Promise<BackgroundAnswer | null> {
    const { calls, log, snapshots } = this.parts;
    if (!calls.accepting) return null;
    const call = calls.start(
      { method: "POST", url: `http://gateway${request.path}`, headers: request.headers },
      request.ip,
      request.audit,
      left,
    );
    const notAdmitted = await admitHolder(call, request.holder, this.parts).catch(internalErrorOf);
    // Keep the answer until the caller can be looked up.
    if (notAdmitted !== null && OF_THE_MOMENT.has(notAdmitted.code)) {
      calls.forget(call);
      return null;
    }
    const tenantId = left.row.tenant_id as string;
    call.scope ??= await Promise.resolve(snapshots.scope(tenantId, request.groupId)).catch(() => null);
    call.identity ??= { tenantId, credentialId: "", credentialName: "", userId: null, username: null };
    Object.assign(call.row, left.row);
    // The row already describes the request as it was sent.
    call.requestContent = null;
    call.notedContent = null;
    call.priceFactor = (left.row.custom_metadata as { batch?: { price_factor?: number } } | null | undefined)?.batch?.price_factor ?? 1;
    let answer: Answer | Refusal;
    try {
      answer = await this.answerOf(call, request, left, result);
    } catch (error) {
      log.error("call_failed", { call_id: call.id, error: error as Error });
      answer = internalErrorOf(error);
    }
    // The cost of the answer is settled either way, but a caller who is no longer admitted does not get it.
    const given = notAdmitted ?? answer;
    if (!recorded) return this.sealed(call, request, given, notAdmitted === null);
    calls.forget(call);
    return this.answerAsRecorded(call, request, given, notAdmitted === null);
  }

  /**
   * Why the holder of a provider's batch would now be refused this model; null if they would not, or if the directory cannot be asked.
   * Writes no row.
   */
  async accessRefusal(
    request: Omit<BackgroundRequest, "surface" | "body">,
    modelId: string,
  ): Promise<{ readonly code: string; readonly message: string; readonly admitted: boolean } | null> {
    const { calls, standing } = this.parts;
    const call = calls.start({ method: "POST", url: `http://gateway${request.path}`, headers: request.headers }, request.ip, request.audit);
    try {
      const notAdmitted = await admitHolder(call, request.holder, this.parts);
      if (notAdmitted !== null) return { ...asRecorded(call, notAdmitted), admitted: false };
      const modes = call.scope?.tenant.models.get(modelId)?.modes ?? [];
      for (const control of standing) {
        const decision = await control.decide(call, { target: { kind: "model", name: null, id: modelId, modes } });
        if (decision.kind === "refuse") return { ...asRecorded(call, decision.refusal), admitted: true };
      }
      return null;
    } catch {
      return null;
    } finally {
      calls.forget(call);
    }
  }

  private async answerOf(
    call: Call,
    { surface }: BackgroundRequest,
    left: SuspendedLine,
    result: ProviderResult,
  ): Promise<Answer | Refusal> {
    const model = call.scope?.tenant.models.get(left.departure.modelId) ?? left.model ?? undefined;
    if (model !== undefined) call.target = { kind: "model", route: { group: null, members: [{ model, weight: 1 }] }, model };
    call.batched = { kind: "answered", ...(isRefusal(result) ? { status: 502, body: "" } : result) };
    if (isRefusal(result)) return result;
    if (model === undefined) return refuse("model_not_found", "The model of this line was deleted before its answer came.");
    const exchange = await surface.read(call, new TextEncoder().encode(left.asked));
    return isRefusal(exchange) ? exchange : this.parts.give(call, exchange);
  }

  private async sealed(
    call: Call,
    { surface }: BackgroundRequest,
    answer: Answer | Refusal,
    admitted: boolean,
  ): Promise<BackgroundAnswer | null> {
    const given = wholeOf(answer);
    const response = isRefusal(given)
      ? await this.sender.refusal(call, surface, given)
      : await this.sender.whole(call, given, answeredOutcome(given));
    return response === null ? null : backgroundAnswer(call, given, response.status, await response.text(), admitted);
  }

  /** The answer of a call whose row already exists. */
  private answerAsRecorded(call: Call, { surface }: BackgroundRequest, answer: Answer | Refusal, admitted: boolean): BackgroundAnswer {
    const given = wholeOf(answer);
    const outcome = isRefusal(given) ? refusedOutcome(call, given) : answeredOutcome(given);
    Object.assign(call.row, { error_type: outcome.errorType, error_message: outcome.errorMessage });
    const body = isRefusal(given) ? surface.refusal(given, call).body : new TextDecoder().decode(given.body);
    return backgroundAnswer(call, given, outcome.status, body, admitted);
  }

  /**
   * Seals a row for an event that no call caused, such as the end of a job. `row`: ID and time, if chosen before. Returns false if the row
   * could not be stored or another process reports the event.
   */
  async recordEvent(event: RecordedEvent, who: EventOwner, outcome: CallOutcome, row?: ResumedCall): Promise<boolean> {
    const { audit, path, headers, ip, parentId, rootTaskId, noted, fields = {}, claim } = event;
    const { calls, snapshots } = this.parts;
    const call = calls.start({ method: "POST", url: `http://gateway${path}`, headers }, ip, audit, row);
    const { tenantId, groupId, keyId, userId } = who;
    const names = await this.namesOf(who);
    const { api_key_name: keyName, gateway_user_username: username } = names;
    call.identity = { tenantId, credentialId: keyId ?? userId ?? "", credentialName: keyName ?? username ?? "", userId, username };
    call.scope = await Promise.resolve(snapshots.scope(tenantId, groupId)).catch(() => null);
    Object.assign(call.row, { tenant_id: tenantId, resource_group_id: groupId, api_key_id: keyId, gateway_user_id: userId });
    Object.assign(call.row, {
      ...names,
      subject_kind: userId === null ? "service" : "user",
      subject_id: userId ?? keyId,
      trace_continuity: "minted",
    });
    call.row.parent_request_id = parentId;
    call.row.root_task_id = rootTaskId ?? call.id;
    call.row.custom_metadata = { ...noted };
    noteLabels(call);
    let claimed = true;
    if (claim !== undefined) {
      try {
        calls.begin(call);
      } catch (error) {
        // Without its begin marker the event has no row, and nobody waits for one.
        calls.forget(call);
        throw error;
      }
      claimed = await claim(call.id).catch(() => false);
    }
    if (claimed) Object.assign(call.row, fields);
    closeRecord(call, claimed ? outcome : NOT_CLAIMED, null);
    return (await calls.seal(call)) && claimed;
  }

  /** Current names; null for deleted records, and if the directory cannot be asked. */
  private async namesOf({ tenantId, keyId, userId }: EventOwner) {
    const { credentials, users } = this.parts;
    const [keyName, user] = await Promise.all([
      keyId === null ? null : credentials.nameOf(tenantId, keyId).catch(() => null),
      userId === null ? null : Promise.resolve(users.find(tenantId, userId)).catch(() => null),
    ]);
    return {
      api_key_name: keyName,
      gateway_user_username: user?.username ?? null,
      idp_user_id: user?.idp_user_id ?? null,
      idp_user_username: user?.idp_user_username ?? null,
      idp_user_email: user?.idp_user_email ?? null,
    };
  }

  private async governed(call: Call, { surface, body }: BackgroundRequest): Promise<Answer | Refusal | SuspendedLine> {
    call.requestContent = body;
    call.row.request_size_bytes = body.byteLength;
    const exchange = await surface.read(call, body);
    if (isRefusal(exchange)) return exchange;
    try {
      return await this.parts.govern(call, exchange);
    } catch (error) {
      if (!(error instanceof LeftInBatch)) throw error;
      return this.suspended(call, exchange);
    }
  }

  private async suspended(call: Call, { view }: Exchange): Promise<SuspendedLine | Refusal> {
    const { batched } = call;
    if (batched?.kind !== "leaving" || batched.departed === null) throw new Error("a call left that nobody sent away");
    const refusal = await this.parts.calls.leave(call);
    if (refusal !== null) return refusal;
    for (const noteOnRow of call.beforeRecord) noteOnRow();
    noteRequest(call);
    const { row, id } = call;
    const metadata = row.custom_metadata as { batch?: object } | null | undefined;
    row.custom_metadata = { ...metadata, batch: { ...metadata?.batch, price_factor: call.priceFactor ?? 1 } };
    return { departure: batched.departed, id, timestamp: row.timestamp as string, row: { ...row }, asked: view.content() };
  }
}

/** Error type and message as the refused call's row records them. */
function asRecorded(call: Call, refusal: Refusal): { readonly code: string; readonly message: string } {
  const { errorType, errorMessage } = refusedOutcome(call, refusal);
  return { code: errorType ?? refusal.code, message: errorMessage ?? "" };
}

function wholeOf(answer: Answer | Refusal): WholeAnswer | Refusal {
  return isRefusal(answer) || answer.kind === "whole" ? answer : refuse("upstream_invalid_response");
}

function backgroundAnswer(call: Call, given: WholeAnswer | Refusal, status: number, body: string, admitted: boolean): BackgroundAnswer {
  return {
    id: call.id,
    status,
    body,
    errorType: call.row.error_type ?? null,
    errorMessage: call.row.error_message ?? null,
    admitted,
    interrupted: abortReason(call) === "gateway_interrupted",
    refusal: isRefusal(given) && call.attempts.length === 0 ? given : null,
  };
}

/** Copies the submitter's run, group and job metadata to the call's row. */
function note(call: Call, { groupId, parentId, rootTaskId, noted }: BackgroundRequest): void {
  call.row.parent_request_id = parentId;
  call.row.resource_group_id ??= groupId;
  if (rootTaskId !== null) call.row.root_task_id = rootTaskId;
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), ...noted };
}
