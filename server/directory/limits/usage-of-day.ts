import type { UsageTotal } from "../../store/usage/usage-totals.ts";
import type { PolicyTree } from "./policy-tree.ts";

interface GroupUse {
  readonly groupId: string;
  /** Null counts all models. */
  readonly modelId: string | null;
  readonly period: "day" | "month";
  readonly measure: "requests" | "tokens" | "micros";
}

/** Usage of a tenant's groups in one day and its month. */
export class UsageOfDay {
  private readonly byGroup = new Map<string, UsageTotal[]>();
  private readonly sums = new Map<string, number>();

  constructor(totals: readonly UsageTotal[]) {
    for (const total of totals) {
      const known = this.byGroup.get(total.resource_group_id);
      if (known === undefined) this.byGroup.set(total.resource_group_id, [total]);
      else known.push(total);
    }
  }

  /** Usage of the group and all below it; each sum is computed once. */
  ofBranch(tree: PolicyTree, { groupId, modelId, period, measure }: GroupUse): number {
    const column = `${period}_${measure}` as const;
    const key = `${groupId} ${column} ${modelId ?? ""}`;
    let sum = this.sums.get(key);
    if (sum === undefined) {
      sum = 0;
      for (const { id } of tree.branch(groupId))
        for (const total of this.byGroup.get(id) ?? []) if (total.model_id === modelId) sum += total[column];
      this.sums.set(key, sum);
    }
    return sum;
  }
}
