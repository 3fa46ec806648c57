import type { Approval } from "@gatehouse/contracts/approvals";
import { noteApprovalShown } from "../../directory/tools/approvals.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject } from "../../wire/document.ts";
import { requestText } from "../../wire/mcp/rpc.ts";
import { abortReason, type Call } from "../call.ts";
import { isRefusal } from "../surface.ts";
import { addressOf, approvalRequired, whenDecided } from "./approval-question.ts";
import { cancellableRequest } from "./cancellation.ts";
import { clientAnswer, ownQuestionId } from "./client-answers.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/** Longer than the official clients wait for an answer by default; who waits longer has it said that way. */
const HELD_MS = 300_000;
const STEP_MS = 1_000;

/** As the session is known to its approvals. */
export function sessionDigest({ secrets }: Pick<ToolParts, "secrets">, session: string): string {
  return secrets.hmac("mcp-approval-session", session);
}

/**
 * Asks a client of the handshake dialect on the stream of its own call to open the way to the approval, and holds the
 * call until it is decided: null lets it go on. Whoever cannot wait that long sends the call again in the same session.
 * `redeem` gives a refusal when the approval is no longer good for this call.
 */
export async function* heldForApproval(call: Call, { message }: ToolRequest, url: string, approval: Approval, redeem: (id: string) => Promise<Refusal | null>, parts: ToolParts): AsyncGenerator<string, Refusal | null> {
  const session = call.request.headers.get("mcp-session-id") ?? "";
  const over = new AbortController();
  const uncancellable = cancellableRequest(parts, session, message?.id, call.abort, true);
  const elicitationId = approval.id;
  try {
    await noteApprovalShown(parts, call.identity?.tenantId ?? "", approval.id, sessionDigest(parts, session));
    const id = ownQuestionId(parts);
    let declined = false;
    void clientAnswer(parts, session, id, AbortSignal.any([call.abort.signal, over.signal])).then((answer) => {
      declined = answer !== null && !(isObject(answer.result) && answer.result.action === "accept");
    });
    yield requestText(id, "elicitation/create", JSON.stringify({ ...addressOf(call, approval, parts), elicitationId }));
    const until = performance.now() + HELD_MS;
    for (;;) {
      const found = await whenDecided(call, url, approval.id, parts, Math.min(until, performance.now() + STEP_MS));
      if (found !== null && isRefusal(found)) return found;
      if (call.abort.signal.aborted) return refuse("upstream_interrupted", "The request was cancelled.", { reason: abortReason(call) ?? "cancelled" });
      if (found?.status === "pending" && (declined || performance.now() >= until)) return approvalRequired(found);
      if (found?.status === "pending") continue;
      yield requestText(null, "notifications/elicitation/complete", JSON.stringify({ elicitationId }));
      return found?.status === "approved" ? await redeem(found.id) : notGiven(found);
    }
  } catch (error) {
    return refuse("directory_unavailable", "Approvals cannot be looked up just now.", { reason: error instanceof Error ? error.message : String(error) });
  } finally {
    over.abort();
    uncancellable();
  }
}

/** Why a call that waited for its approval does not go on. */
export function notGiven(approval: Approval | null): Refusal {
  return approval?.status === "rejected" ? refuse("approval_rejected", undefined, { extra: { approval_id: approval.id, status: approval.status } }) : refuse("approval_token_invalid", "Nobody decided on the approval of this call in time, or it was used already.");
}
