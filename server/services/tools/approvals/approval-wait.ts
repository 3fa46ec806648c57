import type { Approval } from "@gatehouse/contracts/approvals";
import { findApproval, noteApprovalShown } from "../../../directory/tools/approvals.ts";
import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { approvalMissing, approvalRequired } from "../../../road/policy/approval-required.ts";
import { approvalElicitation } from "./approval-question.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { urlElicitation } from "./url-elicitation.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/** The digest under which approvals store a session. */
export function sessionDigest({ secrets }: Pick<ToolParts, "secrets">, session: string): string {
  return secrets.hmac("mcp-approval-session", session);
}

/**
 * Holds a call in the handshake dialect until its approval is decided. A null result lets the call pass the gates again, which redeem the
 * approval. A client that cannot wait that long repeats the call in the same session.
 */
export async function* waitForApproval(
  call: Call,
  request: ToolRequest,
  url: string,
  approval: Approval,
  parts: ToolParts,
): AsyncGenerator<string, Refusal | null> {
  const tenantId = call.identity?.tenantId ?? "";
  // Write the begin marker first, so that the call is recorded even if the process dies.
  const unrecorded = recordTarget(call, url, null, parts);
  if (unrecorded !== null) return unrecorded;
  const poll = async () => {
    const found = await findApproval(parts, tenantId, approval.id);
    return found?.status === "pending" ? "wait" : found?.status === "approved" ? null : approvalMissing(found);
  };
  try {
    await noteApprovalShown(parts, tenantId, approval.id, sessionDigest(parts, call.headers.get("mcp-session-id") ?? ""));
    return yield* urlElicitation(
      call,
      request,
      { ...approvalElicitation(call, approval, parts), elicitationId: approval.id },
      poll,
      () => approvalRequired(approval),
      parts,
    );
  } catch (error) {
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", { reason: reasonOf(error) });
  }
}
