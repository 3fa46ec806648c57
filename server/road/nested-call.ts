import type { ModelEntry } from "../directory/snapshot.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { OwnCall } from "../directory/limits/usage-truth.ts";
import type { AuditClass, Call } from "./call.ts";
import { addTag, hasTag } from "./record/add-tag.ts";
import { openCall } from "./record/open.ts";
import type { Answer, WholeAnswer } from "./answer.ts";

/** A call the gateway itself makes on behalf of another one: to embed a question, to have a text judged. */
export interface NestedCall {
  readonly audit: AuditClass & { readonly proxySubtype: OwnCall };
  /** Path the same call of a client would have. */
  readonly path: string;
  readonly model: ModelEntry;
  readonly body: Uint8Array;
  /** The longest answer that `body` asks for, in tokens; null: it does not say. */
  readonly outputTokens: number | null;
  readonly timeoutMs: number;
  /** Longest wait for a budget that other calls hold, which is no part of `timeoutMs`; null: as long as a caller's call. */
  readonly waitMs: number | null;
  /** Its row records hashes of request and answer only: their texts may hold what must not be stored. */
  readonly hashesOnly?: boolean;
  /** False: goes on when its parent's caller hangs up. */
  readonly endsWithParent: boolean;
  send(call: Call): Promise<Answer | Refusal>;
  /** Called with the answer before its row is sealed, to record the result on the row. */
  settled?(call: Call, answer: WholeAnswer | Refusal): void;
}

/**
 * Makes a nested call: routed and metered like any other and with a row of its own, under the scope and in the run of
 * its parent. A refusal where a budget does not cover it.
 *
 * Which controls it passes: none but the limits on tokens and dollars (`CallLimits.enterNested`), because money is spent;
 * rates count what callers do. Access was decided by whoever configured the model for the purpose. Guardrails and policies
 * make these calls themselves, about texts that they look at in the caller's own call: to look again would ask judges about
 * judges. What a caller wants done without an HTTP request of its own (a line of a batch, a replay) is no such call: it goes
 * by `govern`, which every control sees.
 */
export type MakeNestedCall = (parent: Call, nested: NestedCall) => Promise<WholeAnswer | Refusal>;

/** What a nested call has from its parent: who is asking, for whom, and in which run. */
const INHERITED = [
  "tenant_id",
  "api_key_id",
  "api_key_name",
  "resource_group_id",
  "gateway_user_id",
  "gateway_user_username",
  "subject_kind",
  "subject_id",
  "actor_agent_id",
  "end_user_session_id",
  "idp_user_id",
  "idp_user_username",
  "idp_user_email",
  "root_task_id",
  "trace_continuity",
  "trace_root_kind",
  "turn_id",
  "turn_seq",
  "step_id",
  "step_name",
  "trace_id",
  "span_id",
] as const;

export function openNested(parent: Call, { audit, path, model, body }: NestedCall, clock: Clock): Call {
  const call = openCall({ method: "POST", url: `http://gateway${path}`, headers: new Headers() }, parent.ip, audit, clock);
  const row: Record<string, unknown> = call.row;
  for (const field of INHERITED) if (parent.row[field] != null) row[field] = parent.row[field];
  // What is asked for a replay is nothing that its system did either.
  if (hasTag(parent, "replay")) addTag(call, "replay");
  call.row.correlation_id = parent.row.correlation_id ?? null;
  call.row.parent_request_id = parent.id;
  call.row.request_size_bytes = body.byteLength;
  call.row.llm_model_requested = model.name;
  call.row.llm_streaming = false;
  call.identity = parent.identity;
  call.user = parent.user;
  call.tenant = parent.tenant;
  call.scope = parent.scope;
  call.target = { kind: "model", route: { group: null, members: [{ model, weight: 1 }] }, model };
  call.requestContent = body;
  return call;
}
