import { isRefusal, type Refusal, internalErrorOf, refuse } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { admitHolder, type AdmissionParts } from "./admission/admit.ts";
import type { Holder } from "./admission/gateway-tokens.ts";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ModelEntry } from "../directory/snapshot.ts";
import type { Answer, WholeAnswer } from "./answer.ts";
import { type Departure, LeftInBatch } from "./batched.ts";
import { type AuditClass, abortReason, type Call } from "./call.ts";
import type { StandingControl } from "./control.ts";
import type { Govern } from "./govern.ts";
import type { OpenCalls } from "./open-calls.ts";
import { answeredOutcome, type CallOutcome, closeRecord, noteRequest, refusedOutcome } from "./record/finish.ts";
import { Sender } from "./sender.ts";
import type { ResumedCall } from "./record/open.ts";
import type { Exchange, Surface } from "./surface.ts";

/** A call made for a caller without an HTTP request of its own, such as a line of a batch job. */
export interface BackgroundRequest {
  readonly surface: Surface;
  readonly audit: AuditClass;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Where the caller was when they asked for it. */
  readonly ip: string;
  readonly holder: Holder;
  readonly groupId: string;
  readonly parentId: string;
  readonly rootTaskId: string | null;
  /** What its row says of where it belongs. */
  readonly noted: Readonly<Record<string, unknown>>;
}

interface RecordedEvent extends Omit<BackgroundRequest, "surface" | "body" | "holder" | "groupId"> {
  /** Further fields of its row, where `claim` gave it to this process. */
  readonly fields?: Partial<AuditRow>;
  /**
   * Called with the id of the row after its begin marker is written and before the row is. False: another process reports the
   * event, and this row says nothing of it. When this process dies after that, whoever recovers its journal writes the row as
   * interrupted.
   */
  readonly claim?: (rowId: string) => Promise<boolean>;
}

/** Whose row the event is. */
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
  /** As its row has it; null where it succeeded. */
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  /** False where the caller would not be let in any more. */
  readonly admitted: boolean;
  /** Whether the process stopped before the answer. */
  readonly interrupted: boolean;
  /** What it was refused with, before an upstream was asked. */
  readonly refusal: Refusal | null;
}

/** A batch line that passed every control and is to be answered by its provider in a batch: everything needed to finish its call later. */
export interface SuspendedLine {
  readonly departure: Departure;
  readonly id: string;
  readonly timestamp: string;
  /** What its row says so far. */
  readonly row: AuditRow;
  /** What it asks, as controls left it. */
  readonly asked: string;
  /** Whom it left for, where this process knows it still. */
  readonly model?: ModelEntry | null;
}

/** The provider's answer to a suspended line, or the reason why there is none. */
export type ProviderResult = { readonly status: number; readonly body: string } | Refusal;

interface BackgroundParts extends AdmissionParts {
  readonly calls: OpenCalls;
  readonly govern: Govern;
  /** The same for what left in a batch and comes back. */
  readonly give: Govern;
  /** Of the request controls those that decide who may use what. */
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

/** What says nothing of the caller: only that nobody could be asked just now. */
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
   * Makes one call. Null where it could not be recorded: then it was not served. With `batched` its provider answers it in a
   * batch: it stops where it would leave, and gives what `finish` needs, unless it was answered before that.
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
   * Finishes a call that left in a batch: its answer passes the answer controls, and its row is sealed. Null where it could not be
   * recorded, or nobody could say just now whom it is for: it is given later. `recorded`: its row was sealed before, by a process that
   * died before it could note that.
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
    // The answer is there still, and is given when it can be told to whom.
    if (notAdmitted !== null && OF_THE_MOMENT.has(notAdmitted.code)) {
      calls.forget(call);
      return null;
    }
    const tenantId = left.row.tenant_id as string;
    call.scope ??= await Promise.resolve(snapshots.scope(tenantId, request.groupId)).catch(() => null);
    call.identity ??= { tenantId, credentialId: "", credentialName: "", userId: null, username: null };
    Object.assign(call.row, left.row);
    // Its row tells of the request since it left.
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
    // What the answer cost is known by now; whoever is let in no more does not get it.
    const given = notAdmitted ?? answer;
    if (!recorded) return this.sealed(call, request, given, notAdmitted === null);
    calls.forget(call);
    return this.answerAsRecorded(call, request, given, notAdmitted === null);
  }

  /**
   * Why the caller of what a provider works on would not be allowed to use that model now; null where they would, or where the
   * directory cannot be asked. Leaves no row.
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

  /** The answer of a call whose row is there already. */
  private answerAsRecorded(call: Call, { surface }: BackgroundRequest, answer: Answer | Refusal, admitted: boolean): BackgroundAnswer {
    const given = wholeOf(answer);
    const outcome = isRefusal(given) ? refusedOutcome(call, given) : answeredOutcome(given);
    Object.assign(call.row, { error_type: outcome.errorType, error_message: outcome.errorMessage });
    const body = isRefusal(given) ? surface.refusal(given, call).body : new TextDecoder().decode(given.body);
    return backgroundAnswer(call, given, outcome.status, body, admitted);
  }

  /**
   * Seals a row for something that no call did, such as the end of a job. `row`: its id and time, where they were chosen before. False
   * where it could not be stored, or where another process reports the event.
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
    let claimed = true;
    if (claim !== undefined) {
      calls.begin(call);
      claimed = await claim(call.id).catch(() => false);
    }
    if (claimed) Object.assign(call.row, fields);
    closeRecord(call, claimed ? outcome : NOT_CLAIMED, null);
    return (await calls.seal(call)) && claimed;
  }

  /** What they are called now; null for those that are gone, and where the directory cannot be asked. */
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
    for (const tell of call.beforeRecord) tell();
    noteRequest(call);
    const { row, id } = call;
    const told = row.custom_metadata as { batch?: object } | null | undefined;
    row.custom_metadata = { ...told, batch: { ...told?.batch, price_factor: call.priceFactor ?? 1 } };
    return { departure: batched.departed, id, timestamp: row.timestamp as string, row: { ...row }, asked: view.content() };
  }
}

/** As the row of a refused call has it. */
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

/** What the call has of the one that asked for it: its run, and where it belongs. */
function note(call: Call, { groupId, parentId, rootTaskId, noted }: BackgroundRequest): void {
  call.row.parent_request_id = parentId;
  call.row.resource_group_id ??= groupId;
  if (rootTaskId !== null) call.row.root_task_id = rootTaskId;
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), ...noted };
}
