import type { Capacity } from "@gatehouse/contracts/limits";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import { documentOf } from "./merge.ts";
import type { GroupNode, PolicyTree } from "./policy-tree.ts";
import { type Quota, QUOTAS } from "./quotas.ts";

/** Sums dollars as micro-dollars, so that three times 0.1 is exactly 0.3. */
const exact = (quota: Quota, value: number): number => (quota.startsWith("budget.") ? microsFromUsd(value) : value);
export const shownQuota = (quota: Quota, value: number): number => (quota.startsWith("budget.") ? usdFromMicros(value) : value);

export function claimedQuota(tree: PolicyTree, holderId: string, quota: Quota, without?: string): number {
  return tree.drawers(holderId, quota, without).reduce((sum, { claim }) => sum + exact(quota, claim), 0);
}

export function quotaLimitOf(tree: PolicyTree, holderId: string, quota: Quota): number {
  return exact(quota, tree.effective(holderId, "llm_limits").get(quota) as number);
}

/** Whose budget the group draws on, which other groups do, and what remains of it for this group's branch (interface 8.1). */
export function quotaCapacityOf(tree: PolicyTree, groupId: string): Capacity {
  const above = tree.above(groupId);
  const holder = above.find((node) => tree.ownFields(node.id, "llm_limits").size > 0);
  const available = new Map<string, unknown>();
  const siblings = new Map<string, { node: GroupNode; claims: Map<string, unknown> }>();
  for (const quota of QUOTAS) {
    const quotaHolder = tree.holderOf(groupId, quota);
    if (quotaHolder === undefined) {
      available.set(quota, null);
      continue;
    }
    for (const { node, claim } of tree.drawers(quotaHolder.id, quota, groupId)) {
      const known = siblings.get(node.id) ?? { node, claims: new Map() };
      known.claims.set(quota, claim);
      siblings.set(node.id, known);
    }
    available.set(
      quota,
      shownQuota(quota, Math.max(0, quotaLimitOf(tree, quotaHolder.id, quota) - claimedQuota(tree, quotaHolder.id, quota, groupId))),
    );
  }
  return {
    parent_id: holder?.id ?? null,
    parent_name: holder?.name ?? null,
    parent_is_immediate: holder !== undefined && holder.id === above[0]?.id,
    siblings: [...siblings.values()].map(({ node, claims }) => ({
      group_id: node.id,
      group_name: node.name,
      limits: documentOf(claims) as Record<string, unknown>,
    })),
    available: documentOf(available) as Capacity["available"],
  };
}
