import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Refusal } from "../../kernel/errors.ts";
import type { OwnCall } from "../../directory/limits/usage-truth.ts";
import type { AuditClass, Call } from "../call.ts";
import { addTag, hasTag } from "../record/add-tag.ts";
import { inheritLabels } from "../record/labels.ts";
import { openCall } from "../record/open.ts";
import type { Answer, WholeAnswer } from "../answer.ts";

/** A call the gateway makes on behalf of another call, for example to embed a question or judge a text. */
export interface NestedCall {
  readonly audit: AuditClass & { readonly proxySubtype: OwnCall };
  /** Path of the same call made by a client. */
  readonly path: string;
  readonly model: ModelEntry;
  readonly body: Uint8Array;
  /** The output limit set in `body`, in tokens; null if it sets none. */
  readonly outputTokens: number | null;
  readonly timeoutMs: number;
  /**
   * Longest wait in milliseconds for budget held by other calls, not included in `timeoutMs`; null for the same wait as a caller's call.
   */
  readonly waitMs: number | null;
  /** The row records only hashes of request and answer, because their texts may hold what must not be stored. */
  readonly hashesOnly?: boolean;
  /** False if it continues when the parent's caller disconnects. */
  readonly endsWithParent: boolean;
  send(call: Call): Promise<Answer | Refusal>;
  /** Called with the answer before its row is sealed, to record the result on the row. */
  settled?(call: Call, answer: WholeAnswer | Refusal): void;
}

/**
 * Makes a nested call: routed, metered and recorded like any other, in the scope and run of its parent. Returns a refusal if no budget
 * covers it.
 *
 * Of the controls it passes only the token and cost limits (`CallLimits.enterNested`), because it spends money; rate limits count what
 * callers do. Access was decided by whoever configured the model for this purpose. Guardrails and policies make these calls themselves,
 * about texts they inspect in the caller's own call; inspecting them again would recurse. Work that a caller wants done without an HTTP
 * request (a batch line, a replay) is not a nested call: it goes through `govern` and all its controls.
 */
export type MakeNestedCall = (parent: Call, nested: NestedCall) => Promise<WholeAnswer | Refusal>;

/** Row fields a nested call inherits from its parent: who asks, for whom, and in which run. */
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
  inheritLabels(parent, call);
  // Calls made for a replay are not actions of the AI System either.
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
