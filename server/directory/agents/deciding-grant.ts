import type { AgentGrantEntry } from "./agent-entry.ts";

const STRICTNESS = { deny: 2, approval_required: 1, allow: 0 } as const;

/**
 * The grant that decides of an agent for a group: one that denies, anywhere up the tree, before all; else that of the
 * nearest group, and of several there the strictest. Null: none, which is as if it were denied.
 */
export function grantFor<Grant extends Pick<AgentGrantEntry, "decision" | "groupIds">>(
  grants: readonly Grant[],
  chain: readonly { readonly id: string }[],
  granting: ReadonlySet<string>,
): Grant | null {
  const denying = grants.find(({ decision, groupIds }) => decision === "deny" && chain.some(({ id }) => groupIds.has(id)));
  if (denying !== undefined) return denying;
  for (const { id } of chain) {
    if (!granting.has(id)) continue;
    const here = grants.filter(({ groupIds }) => groupIds.has(id)).toSorted((a, b) => STRICTNESS[b.decision] - STRICTNESS[a.decision]);
    if (here[0] !== undefined) return here[0];
  }
  return null;
}
