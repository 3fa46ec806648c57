import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { ArgumentPolicyEntry, ToolCallPolicy } from "./argument-policy-entry.ts";
import { holdsFor } from "./bound-groups.ts";

/** The policies that hold for a group with this chain (itself and all above it), by the tool they are on. */
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
