import type { SkillEntry } from "../../../directory/skills/skill-entry.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import { type Action, actionOn } from "../../../road/action.ts";
import { heldRefusal } from "../../../road/approval-required.ts";
import type { Call } from "../../../road/call.ts";
import { recordTarget } from "../../../road/outlet.ts";
import type { ToolRoute, ToolTarget } from "../../../road/target.ts";
import { edited, memberText, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { SkillTools } from "./skill-parts.ts";

export interface SkillToolCall {
  readonly target: ToolTarget;
  readonly route: ToolRoute;
  readonly message: RpcMessage;
  readonly approvalToken: string | undefined;
  readonly parts: ToolParts & { readonly skills: SkillTools };
}

/** Writes the call's begin marker; a refusal where that cannot be. */
export function departedForSkill(call: Call, { target, message, parts }: SkillToolCall, name: string): Refusal | null {
  return recordTarget(
    call,
    name === "" ? target.server.url : `${target.server.url}/${encodeURIComponent(name)}`,
    message.document.text(),
    parts,
  );
}

/** Why it may not be done: policies on its arguments, or somebody has to approve it first, or did not. */
export async function skillActionRefusal(
  call: Call,
  asked: SkillToolCall,
  entry: SkillEntry,
  needsApproval: boolean,
): Promise<Refusal | null> {
  const decision = await asked.parts.gates.beforeAction(call, actionOf(asked, entry, needsApproval));
  if (decision.kind === "refuse") return decision.refusal;
  return decision.kind === "hold" ? heldRefusal(decision.approval) : null;
}

/** An approval is good for one script of one version with these arguments: the digest is that of all files of the version. */
function actionOf({ target, route, message, approvalToken }: SkillToolCall, entry: SkillEntry, required: boolean): Action {
  const name = route.capability?.name ?? "";
  const given = memberText(message.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const plain = actionOn(target, name, edited(given, { approval_token: null }));
  return {
    ...plain,
    approval: {
      ...plain.approval,
      required,
      serverName: `${entry.name}, version ${entry.version}`,
      definitionDigest: async () => entry.digest,
      proof: { session: null, ...(approvalToken === undefined ? {} : { token: approvalToken }) },
    },
  };
}
