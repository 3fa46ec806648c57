import type { SkillEntry } from "../../../directory/skills/skill-entry.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import { type Action, actionOn } from "../../../road/action.ts";
import { heldRefusal } from "../../../road/policy/approval-required.ts";
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

/** Writes the call's begin marker. Returns a refusal if that fails. */
export function departedForSkill(call: Call, { target, message, parts }: SkillToolCall, name: string): Refusal | null {
  return recordTarget(
    call,
    name === "" ? target.server.url : `${target.server.url}/${encodeURIComponent(name)}`,
    message.document.text(),
    parts,
  );
}

/** Why the action is refused: by a policy on its arguments, or because it needs approval or was denied it. Null if it may proceed. */
export async function skillActionRefusal(
  call: Call,
  toolCall: SkillToolCall,
  entry: SkillEntry,
  needsApproval: boolean,
): Promise<Refusal | null> {
  const { route, message } = toolCall;
  const given = memberText(message.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  const [name, args] = [route.capability?.name ?? "", edited(given, { approval_token: null })];
  return refusalOf(call, toolCall, actionOf(toolCall, { name, args, entry, required: needsApproval }));
}

/** The same for a file read as a resource, with the rules of the tool that reads files. */
export function skillFileRefusal(call: Call, toolCall: SkillToolCall, entry: SkillEntry, path: string): Promise<Refusal | null> {
  const args = JSON.stringify({ skill_name: entry.name, path });
  return refusalOf(call, toolCall, actionOf(toolCall, { name: "skills__read_resource", args, entry, required: false }));
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

/** An approval covers one script of one version with these arguments; the digest covers all files of the version. */
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
