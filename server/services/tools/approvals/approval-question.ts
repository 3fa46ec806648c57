import type { Approval } from "@gatehouse/contracts/approvals";
import { findApproval } from "../../../directory/tools/approvals.ts";
import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { supportsUrlElicitation } from "../../../wire/mcp/elicitation.ts";
import { edited, resultText } from "../../../wire/mcp/rpc.ts";
import { baseUrl } from "../authorization/authorization-parts.ts";
import { sealEnvelope } from "../../../road/admission/envelope.ts";
import type { Call } from "../../../road/call.ts";
import { ownAnswer, type WholeAnswer } from "../../../road/answer.ts";
import { SESSION_PURPOSE } from "../sessions/caller-session.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { approvalData, approvalRequired } from "../../../road/policy/approval-required.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import { upstreamSession } from "../sessions/session-token.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";

/**
 * Obtains approval through URL elicitation, for clients that support it; all others get only the error of a blocked call. A stateless
 * client repeats the call with its state and is held for a while if nobody has decided yet.
 */

const PURPOSE = "mcp-approval-question";
/** Key of the gateway's own question in `inputRequests`. */
const QUESTION = "gateway_approval";
/** Member of `_meta` in which an input request carries what the error of a blocked call has in `data`. */
const META_DATA = "dev.gatehouse/approval";
/** Below the minute for which official clients wait for an answer. */
const WAIT_MS = 40_000;
const POLL_INTERVAL_MS = 500;
/** Below the ten rounds after which the official client gives up. The last round ends with an error that explains how to resume. */
const MAX_ROUNDS = 8;
/** How long the approval page stays readable after the approval has expired. */
const PAGE_MS = 86_400_000;

/** Parameters of `elicitation/create` for the approval page. */
export function approvalElicitation(
  call: Call,
  approval: Approval,
  { authorization, secrets }: Pick<ToolParts, "authorization" | "secrets">,
): { mode: "url"; url: string; message: string } {
  const ticket = sealEnvelope(
    secrets,
    "approval",
    approval.id,
    { tenantId: call.identity?.tenantId ?? "" },
    Date.parse(approval.expires_at) + PAGE_MS,
  );
  return {
    mode: "url",
    url: `${baseUrl(authorization, call)}/v1/portal/approvals/${approval.id}/page?ticket=${ticket}`,
    message:
      `${approval.capability_name} of ${approval.server_name} needs approval. Open the page to see how it stands, or hand it ` +
      `to somebody who may decide. The call goes on once it is approved.`,
  };
}

/** Whether the requesting client supports URL elicitation and could be notified of its completion. */
export function canElicitUrl(call: Call, request: ToolRequest, servedAs: string, parts: Pick<ToolParts, "secrets">): boolean {
  if (request.message?.kind !== "request") return false;
  if (request.envelope !== null) return supportsUrlElicitation(request.envelope.capabilities);
  const token = call.headers.get("mcp-session-id");
  if (token === null || call.headers.get("accept")?.includes("text/event-stream") !== true) return false;
  const owner = `${principalOf(call)}\n${servedAs}`;
  const shows = upstreamSession(parts.secrets, owner, token)?.shows.addresses;
  if (shows !== undefined) return shows;
  const session = openState(parts.secrets, SESSION_PURPOSE, owner, token);
  return session !== null && isObject(session.capabilities) && supportsUrlElicitation(session.capabilities);
}

/**
 * The `input_required` answer for a stateless client. From the second round on the URL is not repeated; the client just sends the call
 * again.
 */
export function approvalInputRequest(
  call: Call,
  { message }: ToolRequest,
  owner: string,
  approval: Approval,
  round: number,
  parts: ToolParts,
): WholeAnswer | Refusal {
  if (round >= MAX_ROUNDS) return approvalRequired(approval);
  const result = {
    resultType: "input_required",
    ...(round > 0
      ? {}
      : { inputRequests: { [QUESTION]: { method: "elicitation/create", params: approvalElicitation(call, approval, parts) } } }),
    requestState: sealState(parts.secrets, PURPOSE, owner, { approval: approval.id, round }),
    _meta: { [META_DATA]: { code: "approval_required", ...approvalData(approval) } },
  };
  return ownAnswer(
    200,
    { "content-type": "application/json", "x-gw-approval-id": approval.id },
    resultText(message?.id ?? null, JSON.stringify(result)),
  );
}

/**
 * The approval for which a stateless client repeats its call; null if it carries no such state. Removes the gateway's state and answers
 * from the request.
 */
export function takeApprovalState(
  { message }: ToolRequest,
  owner: string,
  { secrets }: Pick<ToolParts, "secrets">,
): { readonly id: string; readonly round: number; readonly declined: boolean } | null {
  const given = message?.params.requestState;
  if (message === null || typeof given !== "string") return null;
  const value = openState(secrets, PURPOSE, owner, given);
  if (typeof value?.approval !== "string") return null;
  const responses = message.params.inputResponses;
  const answer = isObject(responses) ? responses[QUESTION] : undefined;
  message.document.respell("params", edited(message.document.memberText("params") ?? "{}", { requestState: null, inputResponses: null }));
  delete message.params.requestState;
  delete message.params.inputResponses;
  return { id: value.approval, round: Number(value.round), declined: isObject(answer) && answer.action !== "accept" };
}

/**
 * Waits until the approval is decided. Returns its state at the end of the wait or when the caller disconnects; null if it does not exist.
 */
export async function awaitDecision(call: Call, url: string, id: string, parts: ToolParts): Promise<Approval | Refusal | null> {
  // Write the begin marker first, so that the call is recorded even if the process dies.
  const unrecorded = recordTarget(call, url, null, parts);
  if (unrecorded !== null) return unrecorded;
  const until = performance.now() + WAIT_MS;
  try {
    for (;;) {
      const approval = await findApproval(parts, call.identity?.tenantId ?? "", id);
      const left = until - performance.now();
      if (approval?.status !== "pending" || left <= 0 || call.abort.signal.aborted) return approval;
      await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_INTERVAL_MS, left)));
    }
  } catch (error) {
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", { reason: reasonOf(error) });
  }
}
