import type { Approval } from "@gatehouse/contracts/approvals";
import { approversOf, needsApproval } from "../directory/tools/tool-access.ts";
import type { Refusal } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json-value.ts";
import type { ToolTarget } from "./target.ts";

/** What an upstream is about to be asked to do, as action controls see it. */
export interface Action {
  /** As its upstream knows it. */
  readonly name: string;
  /** As the caller named it: policies hold under either name. */
  readonly alias: string;
  /** JSON text. */
  readonly arguments: string;
  /** What the upstream says of it; null where nothing says what it does, and nothing can be looked at. */
  readonly definition: ActionDefinition | null;
  readonly approval: ApprovalTerms;
}

export interface ActionDefinition {
  /** Digest of the definition as it was last seen; null where none was. */
  readonly hash: string | null;
  /** The definition of that digest; null when it is not there any more. */
  load(): Promise<JsonObject | null>;
}

/** Under which terms an action needs somebody's approval, and what of one the caller brings. */
export interface ApprovalTerms {
  readonly required: boolean;
  readonly serverId: string;
  readonly serverName: string;
  /** Of the configuration that asks for the approval; null where none does. */
  readonly configId: string | null;
  readonly approverGroupIds: readonly string[];
  readonly timeoutSeconds: number;
  /** Digest of what is to be done as it stands now: an approval is good for that alone. */
  definitionDigest(): Promise<string>;
  readonly proof: ApprovalProof;
}

/** Evidence of an approval that the caller brings, besides a token in `X-Approval-Token`. */
export interface ApprovalProof {
  /** Why the call could not go on even if it were approved. */
  ready?(): Promise<Refusal | null>;
  /** The approval that the call was held for before, or that its caller was asked to get, as it stands; null: it is not there. */
  readonly asked?: () => Promise<Approval | null>;
  /** The approval of a call that goes on in another request; "over" where it cannot, null where the request is none such. */
  readonly continued?: () => Promise<string | "over" | null>;
  /** The session in which somebody was shown the way to the approval. */
  readonly session: string | null;
  /** The one-time token, where the caller brings it in another way than the header. */
  readonly token?: string | undefined;
}

const NO_PROOF: ApprovalProof = { session: null };

/** A control's decision on an action. Each protocol tells its caller of a hold in its own way. */
export type ActionDecision = ActionPass | { readonly kind: "refuse"; readonly refusal: Refusal } | ActionHold;

export interface ActionPass {
  readonly kind: "pass";
  /** The approval that covers the action; null where none was needed. */
  readonly approvalId: string | null;
}

/** The action waits for somebody's approval: it passes the gates again once that was given. */
export interface ActionHold {
  readonly kind: "hold";
  /** As it stands: pending, or decided against the caller. Null: it is not there any more. */
  readonly approval: Approval | null;
}

export const ACTION_PASSES: ActionPass = { kind: "pass", approvalId: null };

/**
 * A tool of a registered server, called with these arguments (JSON text), under the terms of whoever granted it. What else a
 * protocol knows (another name, what the tool says of itself, ways to an approval) is put beside it.
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
