import type { HourlyCount } from "../../store/tools/tool-usage.ts";
import type { PolicyTree } from "./policy-tree.ts";

/** Counts of a tenant's groups in one day, and in one hour of it. */
export class CountsOfDay {
  private readonly byGroup = new Map<string, HourlyCount[]>();

  constructor(counts: readonly HourlyCount[]) {
    for (const count of counts) {
      const known = this.byGroup.get(count.resource_group_id);
      if (known === undefined) this.byGroup.set(count.resource_group_id, [count]);
      else known.push(count);
    }
  }

  /** The count of the group and all below it since `since`, epoch milliseconds: the start of the hour asked for, or of its day. */
  ofBranch(
    tree: PolicyTree,
    { groupId, item, since }: { readonly groupId: string; readonly item: string | null; readonly since: number },
  ): number {
    let sum = 0;
    for (const { id } of tree.branch(groupId))
      for (const { item: one, hour, count } of this.byGroup.get(id) ?? []) if (one === item && hour >= since) sum += count;
    return sum;
  }
}
