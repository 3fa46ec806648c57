import type { Capacity } from "@gatehouse/contracts/limits";
import type { FieldError } from "../../kernel/errors.ts";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import { documentOf } from "./merge.ts";
import type { GroupNode, PolicyTree } from "./policy-tree.ts";
import { type Quota, QUOTAS } from "./rules.ts";

/** Dollars are added up as micro-dollars: three times 0.1 is 0.3 here. */
const exact = (quota: Quota, value: number): number => (quota.startsWith("budget.") ? microsFromUsd(value) : value);
const shown = (quota: Quota, value: number): number => (quota.startsWith("budget.") ? usdFromMicros(value) : value);

function claimed(tree: PolicyTree, holderId: string, quota: Quota, without?: string): number {
  return tree.drawers(holderId, quota, without).reduce((sum, { claim }) => sum + exact(quota, claim), 0);
}

function limitOf(tree: PolicyTree, holderId: string, quota: Quota): number {
  return exact(quota, tree.effective(holderId, "llm_limits").get(quota) as number);
}

/** Whose budget the group draws on, who else does, and what is left of it for this group's branch (interface 8.1). */
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
    available.set(quota, shown(quota, Math.max(0, limitOf(tree, quotaHolder.id, quota) - claimed(tree, quotaHolder.id, quota, groupId))));
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

/**
 * Each quota whose holder would be promised out beyond what it has, once `groupId` is as `after` has it. A holder that
 * was tightened below its promises stays over them; a change that does not add to that is let through.
 */
export function overcommittedQuotas(before: PolicyTree, after: PolicyTree, groupId: string): FieldError[] {
  const fields: FieldError[] = [];
  for (const quota of QUOTAS) {
    const holder = after.holderOf(groupId, quota);
    if (holder === undefined) continue;
    const limit = limitOf(after, holder.id, quota);
    const total = claimed(after, holder.id, quota);
    if (total <= limit || (before.node(holder.id) !== undefined && total <= claimed(before, holder.id, quota))) continue;
    const others = claimed(after, holder.id, quota, groupId);
    fields.push({
      field: quota,
      message:
        `must be at most ${shown(quota, Math.max(0, limit - others))}, which is what ${JSON.stringify(holder.name)} has not ` +
        `promised to others`,
    });
  }
  return fields;
}
