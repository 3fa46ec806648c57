import type { UsageOfDay, UsageTruth } from "../../directory/limits/usage-truth.ts";
import { utcDay } from "../../directory/limits/periods.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { PolicyTree } from "../../directory/limits/policy-tree.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import type { Counters, Plan, WindowLimit } from "./counters.ts";

/** How many plans are kept up with the truth: those in use, the ones used last when there are more. */
const MOST_PLANS = 20_000;

/**
 * Brings counters up to the truth: a window nobody counted yet before its first call, and all windows in use again and
 * again, because other processes add to the truth as well, and so does one that comes back after it was taken for dead.
 * A counter is only ever raised: the truth is late, not wrong.
 */
export class Warming {
  private readonly inUse = new BoundedMap<string, Plan>(MOST_PLANS);
  /** The newest snapshot of each tenant with a plan in use: its tree says whose use is whose. */
  private readonly tenants = new Map<string, Pick<TenantSnapshot, "policies">>();
  /** Windows that began after a tenant was first warmed here need no truth: nobody can have used them unseen. */
  private readonly firstAt = new Map<string, number>();
  private readonly counters: Counters;
  private readonly truth: UsageTruth;

  constructor(counters: Counters, truth: UsageTruth) {
    this.counters = counters;
    this.truth = truth;
  }

  /** The plan's windows are kept up from now on; in the place of the plan of the same `name` before. */
  keep(name: string, plan: Plan, tenant: Pick<TenantSnapshot, "policies">): void {
    const key = `${plan.tenantId} ${name}`;
    if (plan.windows.length === 0) return this.inUse.delete(key);
    this.inUse.set(key, plan);
    this.tenants.set(plan.tenantId, tenant);
  }

  /** Rejects when the truth cannot be read. `at`: the moment whose windows are open, milliseconds. */
  async warm({ policies }: Pick<TenantSnapshot, "policies">, plan: Plan, windows: readonly number[], at: number): Promise<void> {
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
      for (const [index, amount] of await this.read(policies, plan, asked, at)) spent.set(index, amount);
      if (first === undefined) this.firstAt.set(tenantId, at);
    }
    await this.counters.warm(plan, spent, at);
  }

  /** `now`: milliseconds of the steady clock. Each window is looked at once, however many plans share it. */
  async reconcile(now: number): Promise<void> {
    const days = new Map<string, Promise<UsageOfDay>>();
    const seen = new Set<string>();
    for (const name of [...this.inUse.keys()]) {
      const plan = this.inUse.get(name);
      const tenant = plan === undefined ? undefined : this.tenants.get(plan.tenantId);
      if (plan === undefined || tenant === undefined) continue;
      const open = plan.windows.flatMap((window, i) => (window.truth?.kind === "group" && window.resetsAt > now ? [i] : []));
      if (open.length === 0) {
        this.inUse.delete(name);
        continue;
      }
      const unseen = open.filter((i) => !seen.has(`${plan.tenantId} ${(plan.windows[i] as WindowLimit).key}`));
      if (unseen.length === 0) continue;
      for (const i of unseen) seen.add(`${plan.tenantId} ${(plan.windows[i] as WindowLimit).key}`);
      await this.counters.warm(plan, await this.read(tenant.policies, plan, unseen, now, days), now);
    }
  }

  private async read(policies: PolicyTree, plan: Plan, indexes: readonly number[], at: number, days: Map<string, Promise<UsageOfDay>> = new Map()): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    for (const index of indexes) {
      const { truth, measure, startsAt } = plan.windows[index] as WindowLimit;
      if (truth === null) continue;
      if (truth.kind === "tool_results") {
        found.set(index, (await this.truth.toolResults(plan.tenantId, at)).ofBranch(policies, { groupId: truth.groupId, item: truth.modelName, since: startsAt }));
        continue;
      }
      if (measure === "tool_calls") continue;
      if (truth.kind === "run") {
        const total = await this.truth.run(plan.tenantId, truth.rootTaskId);
        found.set(index, total[measure]);
        continue;
      }
      if (truth.kind === "tools") {
        found.set(index, (await this.truth.tools(plan.tenantId, at)).ofBranch(policies, { groupId: truth.groupId, item: truth.serverId, since: startsAt }));
        continue;
      }
      const moment = truth.period === "day" ? startsAt : Math.max(at, startsAt);
      const key = `${plan.tenantId} ${utcDay(moment)}`;
      let day = days.get(key);
      if (day === undefined) {
        day = this.truth.ofDay(plan.tenantId, moment);
        days.set(key, day);
      }
      found.set(index, (await day).ofBranch(policies, { groupId: truth.groupId, modelName: truth.modelName, period: truth.period, measure }));
    }
    return found;
  }
}
