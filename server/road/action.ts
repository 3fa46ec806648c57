import type { Approval } from "@gatehouse/contracts/approvals";
import { approversOf, needsApproval } from "../directory/tools/tool-access.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json-value.ts";
import type { ToolTarget } from "./target.ts";

/** An operation that an upstream is about to perform, as action controls see it. */
export interface Action {
  /** Name at the upstream. */
  readonly name: string;
  /** Name the caller used. Policies match either name. */
  readonly alias: string;
  /** JSON text. */
  readonly arguments: string;
  /** The upstream's definition of the tool; null if none is known, so that nothing can be inspected. */
  readonly definition: ActionDefinition | null;
  readonly approval: ApprovalTerms;
}

export interface ActionDefinition {
  /** Digest of the definition as last seen; null if it was never seen. */
  readonly hash: string | null;
  /** Loads the definition with that digest; null if it no longer exists. */
  load(): Promise<JsonObject | null>;
}

/** Whether an action needs approval, from whom, and what evidence of an approval the caller presents. */
export interface ApprovalTerms {
  readonly required: boolean;
  readonly serverId: string;
  readonly serverName: string;
  /** The configuration that requires the approval; null if none does. */
  readonly configId: string | null;
  readonly approverGroupIds: readonly string[];
  readonly timeoutSeconds: number;
  /** Digest of the action in its current form. An approval covers only that digest. */
  definitionDigest(): Promise<string>;
  readonly proof: ApprovalProof;
}

/** Evidence of an approval, other than a token in `X-Approval-Token`. */
export interface ApprovalProof {
  /** A refusal if the call could not continue even with an approval, else null. */
  ready?(): Promise<Refusal | null>;
  /** The current state of the approval that the call was held for, or that its caller was told to get; null if it does not exist. */
  readonly asked?: () => Promise<Approval | null>;
  /**
   * ID of the approval, for a call that continues in another request; "over" if it cannot continue, null if the request is no continuation.
   */
  readonly continued?: () => Promise<string | "over" | null>;
  /** The session in which someone was shown how to approve. */
  readonly session: string | null;
  /** The one-time token, if it does not come in the header. */
  readonly token?: string | undefined;
}

const NO_PROOF: ApprovalProof = { session: null };

/** A control's decision on an action. Each protocol reports a hold to its caller in its own way. */
export type ActionDecision = ActionPass | { readonly kind: "refuse"; readonly refusal: Refusal } | ActionHold;

export interface ActionPass {
  readonly kind: "pass";
  /** The approval that covers the action; null if none was needed. */
  readonly approvalId: string | null;
}

/** The action waits for an approval and passes the gates again once it is granted. */
export interface ActionHold {
  readonly kind: "hold";
  /** The approval: pending, or decided against the caller. Null if it no longer exists. */
  readonly approval: Approval | null;
}

export const ACTION_PASSES: ActionPass = { kind: "pass", approvalId: null };

/**
 * The call of a registered server's tool with these arguments (JSON text), under the terms of the grant. Callers add what only their
 * protocol knows (an alias, the definition, evidence of an approval).
 */
export function actionOn({ server, access }: ToolTarget, name: string, given: string): Action {
  return {
    name,
    alias: name,
    arguments: given,
    definition: null,
    approval: {
      required: needsApproval(access, name),
      serverId: server.id,
      serverName: server.name,
      configId: access.configId,
      approverGroupIds: approversOf(access, name),
      timeoutSeconds: access.approvalTimeoutSeconds,
      definitionDigest: async () => server.tools.get(name)?.hash ?? "",
      proof: NO_PROOF,
    },
  };
}
