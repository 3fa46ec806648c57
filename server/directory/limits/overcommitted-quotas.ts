import type { FieldError } from "../../kernel/errors.ts";
import { quotaLimitOf, claimedQuota, shownQuota } from "./capacity.ts";
import type { PolicyTree } from "./policy-tree.ts";
import { QUOTAS } from "./quotas.ts";

/**
 * Each quota whose holder would be promised out beyond what it has, once `groupId` is as `after` has it. A holder that
 * was tightened below its promises stays over them; a change that does not add to that is let through.
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
