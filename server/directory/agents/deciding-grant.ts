import type { AgentGrantEntry } from "./agent-entry.ts";

const STRICTNESS = { deny: 2, approval_required: 1, allow: 0 } as const;

/**
 * The grant that decides about an agent for a group: a deny anywhere up the tree wins; otherwise the nearest group's
 * grant, and the strictest if that group has several. Null means no grant, which counts as a deny.
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
