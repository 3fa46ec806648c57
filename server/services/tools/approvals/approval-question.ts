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
import { approvalData, approvalRequired } from "../../../road/approval-required.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import { upstreamSession } from "../sessions/session-token.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";

/**
 * The way to an approval, for clients that can show an address: the protocol's own question, beside what every blocked
 * call is told. A stateless client comes again with its state, and is held for a while where nobody has decided yet.
 */

const PURPOSE = "mcp-approval-question";
/** The key the gateway's own question stands under among input requests. */
const QUESTION = "gateway_approval";
/** Where the result of a question has what the error of a blocked call has in `data`. */
const META_DATA = "dev.gatehouse/approval";
/** Below the minute that the official clients wait for one answer. */
const WAIT_MS = 40_000;
const LOOK_MS = 500;
/** Below the ten rounds after which the official client gives up: the last of them ends with how to come back. */
const MAX_ROUNDS = 8;
/** The page is worth reading for a while after the time has run out. */
const PAGE_MS = 86_400_000;

/** The question itself, as `elicitation/create` has it. */
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

/** Whether the client behind the request supports URL elicitation, and would be notified of its completion. */
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

/** The question to a stateless client. From the second round on the address was shown already, and the client just comes again. */
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
 * The approval a stateless client comes again for. The request is left without what was the gateway's alone; null when it brings no such
 * state.
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

/** The approval once it is decided, or as it stands when the caller has waited long enough or gone; null when it is not there. */
export async function awaitDecision(call: Call, url: string, id: string, parts: ToolParts): Promise<Approval | Refusal | null> {
  // Whatever becomes of this process meanwhile, the call is on the record.
  const unrecorded = recordTarget(call, url, null, parts);
  if (unrecorded !== null) return unrecorded;
  const until = performance.now() + WAIT_MS;
  try {
    for (;;) {
      const approval = await findApproval(parts, call.identity?.tenantId ?? "", id);
      const left = until - performance.now();
      if (approval?.status !== "pending" || left <= 0 || call.abort.signal.aborted) return approval;
      await new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_MS, left)));
    }
  } catch (error) {
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", { reason: reasonOf(error) });
  }
}
