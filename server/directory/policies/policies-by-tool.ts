import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { ArgumentPolicyEntry, ToolCallPolicy } from "./argument-policy-entry.ts";
import { holdsFor } from "./bound-groups.ts";

/** The policies that apply to a group, given its chain of itself and its ancestors, by tool. */
export function policiesByTool(
  entries: readonly ArgumentPolicyEntry[],
  chain: readonly { readonly id: string }[],
): Map<string, readonly ToolCallPolicy[]> {
  const byTool = new Map<string, ToolCallPolicy[]>();
  for (const { groupIds, policy } of entries) {
    if (!holdsFor(groupIds, chain)) continue;
    const tool = toolSpelling(policy.target);
    const others = byTool.get(tool);
    if (others === undefined) byTool.set(tool, [policy]);
    else others.push(policy);
  }
  return byTool;
}
