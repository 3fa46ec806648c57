import type { Approval } from "@gatehouse/contracts/approvals";
import {
  MAX_TO_APPROVE_LENGTH,
  redeemApproval,
  redeemRequestedApproval,
  redeemShownApproval,
  requestApproval,
} from "../../directory/tools/approvals.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { reasonOf, type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { ACTION_PASSES, type Action, type ActionDecision } from "../../road/action.ts";
import { abortReason, type Call, endingRefusal, type Identity } from "../../road/call.ts";
import type { ActionControl } from "../../road/control.ts";
import { exactDigest } from "../../wire/mcp/exact-arguments.ts";
import { type ShownArguments, shownArguments } from "./shown-arguments.ts";

type Parts = Pick<Directory, "db" | "secrets" | "clock">;

/**
 * Holds an action that needs approval: requests the approval, or redeems one that was given, by its one-time token or
 * by other proof from the caller. An approval covers exactly one caller, action, set of arguments and tool definition.
 */
export class Approvals implements ActionControl {
  readonly name = "approvals";
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async before(call: Call, action: Action): Promise<ActionDecision> {
    const { identity, scope } = call;
    const { proof } = action.approval;
    const required = needed(call, action);
    // The caller may bring proof of an approval that is no longer required.
    if (identity === null || scope === null || !(required || proof.continued !== undefined || proof.asked !== undefined))
      return ACTION_PASSES;
    try {
      return await this.decided(call, identity, scope.groupId, action);
    } catch (error) {
      if (error instanceof Refused) return refused(error.refusal);
      const rest = { reason: reasonOf(error), headers: { "retry-after": "1" } };
      return refused(refuse("directory_unavailable", "Approvals cannot be looked up just now.", rest));
    }
  }

  private async decided(call: Call, identity: Identity, groupId: string, action: Action): Promise<ActionDecision> {
    const { approval } = action;
    const { proof } = approval;
    const required = needed(call, action);
    const lost = (await proof.ready?.()) ?? null;
    if (lost !== null) return refused(lost);
    const terms = termsOf(identity, groupId, action);
    const redemption = async () => {
      const definitionDigest = await approval.definitionDigest();
      // Redeeming spends the approval, so it must not happen for a caller that has disconnected meanwhile.
      if (call.abort.signal.aborted)
        throw new Refused(
          endingRefusal(call) ?? refuse("upstream_interrupted", "The request was cancelled.", { reason: abortReason(call) ?? "cancelled" }),
        );
      return { ...terms, definitionDigest, callId: call.id };
    };
    if (proof.asked !== undefined && required) return this.afterAsking(call, await proof.asked(), redemption);
    const continued = (await proof.continued?.()) ?? null;
    if (continued === "over") {
      const message = "What carries the approval of this call on was used already, or came too late.";
      return refused(refuse("approval_token_invalid", message));
    }
    if (continued !== null) return covered(call, continued);
    if (!required) return ACTION_PASSES;
    const token = proof.token ?? call.headers.get("x-approval-token");
    if (token !== null) {
      const redeemed = await redeemApproval(this.parts, token, await redemption());
      return redeemed === null ? refused(refuse("approval_token_invalid")) : covered(call, redeemed);
    }
    const shown = shownArguments(action.arguments);
    if (shown === null) return refused(refuse("tool_payload_too_large", TOO_LONG));
    const redeeming = await redemption();
    const again = proof.session === null ? null : await redeemShownApproval(this.parts, proof.session, redeeming);
    if (again !== null) return covered(call, again);
    const requested = await this.request(call, identity, terms, redeeming.definitionDigest, action, shown);
    return this.hold(call, requested);
  }

  /** The call returns after its approval was requested. */
  private async afterAsking(call: Call, found: Approval | null, redemption: () => Promise<Redemption>): Promise<ActionDecision> {
    if (found?.status !== "approved") return this.hold(call, found);
    return (await redeemRequestedApproval(this.parts, found.id, await redemption()))
      ? covered(call, found.id)
      : refused(refuse("approval_token_invalid"));
  }

  private request(
    call: Call,
    identity: Identity,
    terms: ReturnType<typeof termsOf>,
    definitionDigest: string,
    { approval }: Action,
    { text: callArguments, digested }: ShownArguments,
  ): Promise<Approval> {
    return requestApproval(this.parts, {
      ...terms,
      definitionDigest,
      capabilityType: "tool",
      serverConfigId: approval.configId,
      serverName: approval.serverName,
      requesterType: identity.userId === null ? "api_key" : "user",
      requesterDisplay: identity.username ?? identity.credentialName,
      approverGroupIds: approval.approverGroupIds,
      callArguments,
      metadata: {
        call_id: call.id,
        client_ip: call.ip,
        ...(digested.length === 0 ? {} : { digested_parts: digested }),
        ...(identity.credentialId === identity.userId ? {} : { api_key_id: identity.credentialId }),
      },
      timeoutSeconds: approval.timeoutSeconds,
    });
  }

  private hold(call: Call, approval: Approval | null): ActionDecision {
    call.row.proxy_subtype = "approval_required";
    call.row.agent_authz_decision = "approval_required";
    return { kind: "hold", approval };
  }
}

const TOO_LONG = `This call needs approval, and nobody can look through arguments of more than ${MAX_TO_APPROVE_LENGTH} characters.`;

/** Approval is required by the action's grant, or by the autonomy level of the caller's AI System, which must ask before every action. */
function needed({ scope }: Call, { approval }: Action): boolean {
  return approval.required || scope?.autonomy?.asksFirst === true;
}

type Redemption = Parameters<typeof redeemRequestedApproval>[2];

/** The requester and the action that an approval applies to. */
function termsOf({ tenantId, userId, credentialId }: Identity, requesterGroupId: string, { name, arguments: given, approval }: Action) {
  return {
    tenantId,
    requesterId: userId ?? credentialId,
    requesterGroupId,
    serverId: approval.serverId,
    capabilityName: name,
    argumentsDigest: exactDigest(given),
  };
}

function covered(call: Call, approvalId: string): ActionDecision {
  call.row.consumed_approval_request_id = approvalId;
  call.row.agent_authz_decision = "allow";
  return { kind: "pass", approvalId };
}

const refused = (refusal: Refusal): ActionDecision => ({ kind: "refuse", refusal });
