import type { GroupUse, UsageTruth } from "../../directory/limits/usage-truth.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import type { Counters, Plan, WindowLimit } from "./counters.ts";

/** How many plans are kept up with the truth: those in use, the ones used last when there are more. */
const MOST_PLANS = 20_000;

/**
 * Brings counters up to the truth: a window nobody counted yet before its first call, and all windows in use again and
 * again, because other processes add to the truth as well. A counter is only ever raised: the truth is late, not wrong.
 */
export class Warming {
  private readonly inUse = new BoundedMap<Plan, GroupScope>(MOST_PLANS);
  /** Windows that began after a tenant was first warmed here need no truth: nobody can have used them unseen. */
  private readonly firstAt = new Map<string, number>();
  private readonly counters: Counters;
  private readonly truth: UsageTruth;

  constructor(counters: Counters, truth: UsageTruth) {
    this.counters = counters;
    this.truth = truth;
  }

  /** Rejects when the truth cannot be read. `at`: the moment whose windows are open, milliseconds. */
  async warm(scope: GroupScope, plan: Plan, windows: readonly number[], at: number): Promise<void> {
    const tenantId = plan.tenantId;
    const spent = new Map<number, number>();
    const asked: number[] = [];
    const first = this.firstAt.get(tenantId);
    for (const index of windows) {
      const window = plan.windows[index] as WindowLimit;
      const fresh = first !== undefined && window.startsAt > first && this.counters.lookAgainMs === null;
      if (window.truth === null || fresh) spent.set(index, 0);
      else asked.push(index);
    }
    if (asked.length > 0) {
      for (const [index, amount] of await this.read(scope, plan, asked, at)) spent.set(index, amount);
      if (first === undefined) this.firstAt.set(tenantId, at);
    }
    this.inUse.set(plan, scope);
    await this.counters.warm(plan, spent, at);
  }

  async reconcile(): Promise<void> {
    const now = Date.now();
    for (const plan of [...this.inUse.keys()]) {
      const scope = this.inUse.get(plan);
      const open = plan.windows.flatMap((window, i) => (window.truth?.kind === "group" && window.resetsAt > now ? [i] : []));
      if (scope === undefined || open.length === 0) this.inUse.delete(plan);
      else await this.counters.warm(plan, await this.read(scope, plan, open, plan.windows[open[0] as number]?.startsAt ?? now), now);
    }
  }

  private async read(scope: GroupScope, plan: Plan, indexes: readonly number[], at: number): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    const groups: number[] = [];
    for (const index of indexes) {
      const window = plan.windows[index] as WindowLimit;
      if (window.truth?.kind === "run") {
        const total = await this.truth.run(plan.tenantId, window.truth.rootTaskId);
        found.set(index, window.measure === "requests" ? total.requests : window.measure === "tokens" ? total.tokens : total.micros);
      } else if (window.truth !== null) groups.push(index);
    }
    if (groups.length === 0) return found;
    const day = groups.map((index) => plan.windows[index] as WindowLimit).find(({ truth }) => truth?.kind === "group" && truth.period === "day");
    const uses = groups.map((index): GroupUse => {
      const { truth, measure } = plan.windows[index] as WindowLimit;
      if (truth?.kind !== "group" || measure === "tool_calls") throw new Error("a window without a truth was to be warmed");
      return { groupId: truth.groupId, modelName: truth.modelName, period: truth.period, measure };
    });
    const amounts = await this.truth.groups(plan.tenantId, scope.tenant.policies, uses, day?.startsAt ?? at);
    groups.forEach((index, i) => found.set(index, amounts[i] as number));
    return found;
  }
}
