import { DECLARED_END_STATES, RUN_OUTCOMES } from "@gatehouse/contracts/runs";
import type { SecretBox } from "../../kernel/secrets.ts";
import { arrivalOf, type Call, type Identity } from "../call.ts";
import { givenDelegation } from "./delegation.ts";
import { recordableClaim } from "./open.ts";

const END_STATES: ReadonlySet<string> = new Set(DECLARED_END_STATES);
const OUTCOMES: ReadonlySet<string> = new Set(RUN_OUTCOMES);
const CONVERSATION = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Assigns the call to its run (interface 4.1). A caller's run ID is scoped to the credential, so the same ID under another credential is
 * another run. Without a run ID the call is a run of its own.
 */
export function joinRun(call: Call, identity: Identity, secrets: SecretBox): void {
  const { headers } = call;
  const { row } = call;
  const runId = recordableClaim(headers, "x-gw-run-id");
  row.root_task_id = runId === null ? call.id : rootTaskId(secrets, identity, runId);
  row.trace_continuity = runId === null ? "minted" : "client_asserted";
  // A caller with a token or key of their own is a known user.
  row.trace_root_kind = call.user === null ? "external_api" : "llm_user";
  call.answerHeaders["x-gw-run-id"] = runId ?? call.id;
  joinDelegation(call, secrets);

  row.turn_id = recordableClaim(headers, "x-gw-turn-id");
  const seq = headers.get("x-gw-turn-seq");
  if (seq !== null && /^\d{1,9}$/.test(seq)) row.turn_seq = Number(seq);
  row.step_id = recordableClaim(headers, "x-gw-step-id");
  row.step_name = recordableClaim(headers, "x-gw-step-name");
  const endState = headers.get("x-gw-run-end");
  if (endState !== null && END_STATES.has(endState)) row.run_end_state = endState;

  const session = recordableClaim(headers, "x-gw-session-id");
  if (session !== null) row.end_user_session_id = secrets.hmac("session", `${identity.tenantId}\n${identity.credentialId}\n${session}`);

  const facts: Record<string, string> = {};
  const outcome = headers.get("x-gw-run-outcome");
  if (outcome !== null && OUTCOMES.has(outcome)) facts.run_outcome = outcome;
  const conversation = headers.get("x-gw-conversation-handle");
  if (conversation !== null && CONVERSATION.test(conversation)) facts.conversation_handle = conversation;
  for (const _ in facts) {
    row.custom_metadata = facts;
    break;
  }
}

/**
 * Assigns a call made by an agent to the run in which the agent was called, according to the signed delegation chain. A chain that does not
 * verify is dropped, and the row says so.
 */
function joinDelegation(call: Call, secrets: SecretBox): void {
  const { row, tenant, scope } = call;
  if (tenant === null) return;
  const own = scope === null ? undefined : tenant.agents.byGroup.get(scope.groupId);
  if (own !== undefined) {
    row.actor_agent_id = own.id;
    if (call.user === null) row.trace_root_kind = "agent_invocation";
  } else if (scope !== null && call.user === null && tenant.aiSystems.has(scope.groupId)) {
    // A user merely selects the group; a key is bound to it.
    row.actor_agent_id = scope.groupId;
  }
  const delegation = givenDelegation(call.headers, { tenant, scope, secrets, now: arrivalOf(call) });
  if (delegation.kind === "none") return;
  if (delegation.kind !== "verified") {
    row.trace_continuity = delegation.kind === "dropped" ? "client_dropped" : "sig_failed";
    if (delegation.kind === "failed")
      row.custom_metadata = { ...(row.custom_metadata as object | null | undefined), delegation_refused: delegation.reason };
    return;
  }
  const { chain } = delegation;
  const last = chain.hops.at(-1);
  call.delegation = chain;
  row.root_task_id = chain.root;
  row.trace_continuity = "verified";
  row.trace_root_kind = chain.kind;
  row.delegation_depth = chain.hops.length;
  row.parent_task_id = last?.task ?? null;
  row.actor_agent_id = (last === undefined ? undefined : tenant.agents.byCardName.get(last.agent)?.id) ?? row.actor_agent_id ?? null;
  row.subject_kind = call.user === null ? "upstream agent" : row.subject_kind;
  call.answerHeaders["x-gw-run-id"] = chain.root;
}

export function rootTaskId(secrets: SecretBox, identity: Identity, runId: string): string {
  return secrets.hmac("run", `${identity.tenantId}\n${identity.credentialId}\n${runId}`).slice(0, 40);
}
