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
  const { route, message } = asked;
  const given = memberText(message.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const [name, args] = [route.capability?.name ?? "", edited(given, { approval_token: null })];
  return refusalOf(call, asked, actionOf(asked, { name, args, entry, required: needsApproval }));
}

/** The same of a file that is read as a resource: what holds for the tool that reads files holds for it. */
export function skillFileRefusal(call: Call, asked: SkillToolCall, entry: SkillEntry, path: string): Promise<Refusal | null> {
  const args = JSON.stringify({ skill_name: entry.name, path });
  return refusalOf(call, asked, actionOf(asked, { name: "skills__read_resource", args, entry, required: false }));
}

async function refusalOf(call: Call, { parts }: SkillToolCall, action: Action): Promise<Refusal | null> {
  const decision = await parts.gates.beforeAction(call, action);
  if (decision.kind === "refuse") return decision.refusal;
  return decision.kind === "hold" ? heldRefusal(decision.approval) : null;
}

interface SkillAction {
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  readonly entry: SkillEntry;
  readonly required: boolean;
}

/** An approval is good for one script of one version with these arguments: the digest is that of all files of the version. */
function actionOf({ target, approvalToken }: SkillToolCall, { name, args, entry, required }: SkillAction): Action {
  const plain = actionOn(target, name, args);
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
