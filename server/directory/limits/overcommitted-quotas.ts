import type { FieldError } from "../../kernel/errors.ts";
import { quotaLimitOf, claimedQuota, shownQuota } from "./capacity.ts";
import type { PolicyTree } from "./policy-tree.ts";
import { QUOTAS } from "./quotas.ts";

/**
 * Each quota whose holder would be overcommitted by the state `after` of `groupId`. If a holder is already overcommitted
 * because it was tightened, changes that do not add to its claims are allowed.
 */
export function overcommittedQuotas(before: PolicyTree, after: PolicyTree, groupId: string): FieldError[] {
  const fields: FieldError[] = [];
  for (const quota of QUOTAS) {
    const holder = after.holderOf(groupId, quota);
    if (holder === undefined) continue;
    const limit = quotaLimitOf(after, holder.id, quota);
    const total = claimedQuota(after, holder.id, quota);
    if (total <= limit || (before.node(holder.id) !== undefined && total <= claimedQuota(before, holder.id, quota))) continue;
    const others = claimedQuota(after, holder.id, quota, groupId);
    fields.push({
      field: quota,
      message:
        `must be at most ${shownQuota(quota, Math.max(0, limit - others))}, which is what ${JSON.stringify(holder.name)} has not ` +
        `promised to others`,
    });
  }
  return fields;
}
