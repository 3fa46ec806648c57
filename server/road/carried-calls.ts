import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { isRefusal, type Refusal, internalErrorOf, refuse } from "../kernel/errors.ts";
import { sha256Hex } from "../kernel/secrets.ts";
import type { Log } from "../kernel/log.ts";
import { admitHolder, type AdmissionParts } from "./admission/admit.ts";
import type { Holder } from "./admission/gateway-tokens.ts";
import type { Answer } from "./answer.ts";
import { type AuditClass, abortReason, type Call } from "./call.ts";
import type { Govern } from "./govern.ts";
import type { OpenCalls } from "./open-calls.ts";
import { answeredOutcome, type CallOutcome, closeRecord } from "./record/finish.ts";
import { Sender } from "./sender.ts";
import type { Surface } from "./surface.ts";

/** A call that the gateway makes for a caller who is not there: a line of a batch. */
export interface CarriedRequest {
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

interface ToldEvent extends Omit<CarriedRequest, "surface" | "body" | "holder" | "groupId"> {
  /** What its row says besides, once nothing else can come to say it. */
  readonly told?: Partial<AuditRow>;
  /**
   * Asked with the id of the row when its begin marker is written and before the row is: false, and it tells nothing. A row
   * that was promised so is written by whoever recovers the journal, as interrupted, when this process dies.
   */
  readonly promised?: (rowId: string) => Promise<boolean>;
}

/** Of whom a row tells that no call of theirs made. */
interface ToldOf {
  readonly tenantId: string;
  readonly groupId: string;
  readonly keyId: string | null;
  readonly userId: string | null;
}

export interface CarriedAnswer {
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

interface CarriedParts extends AdmissionParts {
  readonly calls: OpenCalls;
  readonly govern: Govern;
  readonly log: Log;
  readonly upstreamTimeoutMs: number;
  readonly unrecorded: (reason: Refusal["code"]) => void;
}

const NOT_KEPT: CallOutcome = {
  status: 503,
  errorType: "gateway_interrupted",
  errorMessage: "another process had told it, or nobody could be asked",
};

/** Carries calls that no HTTP request brought down the same road: admitted, governed, sealed, each with its row. */
export class CarriedCalls {
  private readonly parts: CarriedParts;
  private readonly sender: Sender;

  constructor(parts: CarriedParts) {
    this.parts = parts;
    this.sender = new Sender(parts);
  }

  /** Null where it could not be recorded: then it was not served. */
  async carry(request: CarriedRequest): Promise<CarriedAnswer | null> {
    const { calls, log } = this.parts;
    if (!calls.accepting) return null;
    const call = calls.start({ method: "POST", url: `http://gateway${request.path}`, headers: request.headers }, request.ip, request.audit);
    const notAdmitted = await admitHolder(call, request.holder, this.parts).catch(internalErrorOf);
    note(call, request);
    let answer: Answer | Refusal = notAdmitted ?? refuse("internal_error");
    if (notAdmitted === null) {
      try {
        answer = await this.governed(call, request);
      } catch (error) {
        log.error("call_failed", { call_id: call.id, error: error as Error });
        answer = internalErrorOf(error);
      }
    }
    const given = isRefusal(answer) || answer.kind === "whole" ? answer : refuse("upstream_invalid_response");
    const response = isRefusal(given)
      ? await this.sender.refusal(call, request.surface, given)
      : await this.sender.whole(call, given, answeredOutcome(given));
    if (response === null) return null;
    return {
      id: call.id,
      status: response.status,
      body: await response.text(),
      errorType: call.row.error_type ?? null,
      errorMessage: call.row.error_message ?? null,
      admitted: notAdmitted === null,
      interrupted: abortReason(call) === "gateway_interrupted",
      refusal: isRefusal(given) && call.attempts.length === 0 ? given : null,
    };
  }

  /** Seals a row that tells of something that no call did: the end of a job. False where it could not be stored. */
  async tell(event: ToldEvent, who: ToldOf, outcome: CallOutcome): Promise<boolean> {
    const { audit, path, headers, ip, parentId, rootTaskId, noted, told = {}, promised } = event;
    const { calls, snapshots } = this.parts;
    const call = calls.start({ method: "POST", url: `http://gateway${path}`, headers }, ip, audit);
    const { tenantId, groupId, keyId, userId } = who;
    call.identity = { tenantId, credentialId: keyId ?? userId ?? "", credentialName: "", userId, username: null };
    call.scope = await Promise.resolve(snapshots.scope(tenantId, groupId)).catch(() => null);
    Object.assign(call.row, { tenant_id: tenantId, resource_group_id: groupId, api_key_id: keyId, gateway_user_id: userId });
    Object.assign(call.row, {
      subject_kind: userId === null ? "service" : "user",
      subject_id: userId ?? keyId,
      trace_continuity: "minted",
    });
    call.row.parent_request_id = parentId;
    call.row.root_task_id = rootTaskId ?? call.id;
    call.row.custom_metadata = { ...noted };
    let kept = true;
    if (promised !== undefined) {
      calls.begin(call);
      kept = await promised(call.id).catch(() => false);
    }
    if (kept) Object.assign(call.row, told);
    closeRecord(call, kept ? outcome : NOT_KEPT, { bytes: 0, hash: sha256Hex(""), preview: null, headers: {} });
    return (await calls.seal(call)) && kept;
  }

  private async governed(call: Call, { surface, body }: CarriedRequest): Promise<Answer | Refusal> {
    call.requestContent = body;
    call.row.request_size_bytes = body.byteLength;
    const exchange = await surface.read(call, body);
    return isRefusal(exchange) ? exchange : this.parts.govern(call, exchange);
  }
}

/** What a carried call has of the one that asked for it: its run, and where it belongs. */
function note(call: Call, { groupId, parentId, rootTaskId, noted }: CarriedRequest): void {
  call.row.parent_request_id = parentId;
  call.row.resource_group_id ??= groupId;
  if (rootTaskId !== null) call.row.root_task_id = rootTaskId;
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), ...noted };
}
