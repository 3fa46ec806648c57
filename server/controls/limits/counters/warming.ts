import type { UsageTruth } from "../../../directory/limits/usage-truth.ts";
import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { PolicyTree } from "../../../directory/limits/policy-tree.ts";
import type { TenantSnapshot } from "../../../directory/snapshot.ts";
import type { Counters, Plan, WindowLimit } from "./counters.ts";
import { beginsAtZero } from "./window-amounts.ts";
import { Reading } from "../plans/plan-reading.ts";

/** How many plans are kept up with the truth: those in use, the ones used last when there are more. */
const MAX_PLANS = 20_000;

/**
 * Brings counters up to the truth: a window nobody counted yet before its first call, and all windows in use again and
 * again, because other processes add to the truth as well, and so does one that comes back after it was taken for dead.
 * A counter is only ever raised: the truth is late, not wrong.
 */
export class Warming {
  private readonly inUse = new BoundedMap<string, Plan>(MAX_PLANS);
  /** The newest tree of each tenant with a plan in use: it says whose use is whose. */
  private readonly trees = new Map<string, PolicyTree>();
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
    this.trees.set(plan.tenantId, tenant.policies);
  }

  /** The newest tree of the tenant, where a plan of it is in use. */
  policiesOf(tenantId: string): PolicyTree | undefined {
    return this.trees.get(tenantId);
  }

  /** Rejects when the truth cannot be read. `at`: the moment whose windows are open, milliseconds. */
  async warm({ policies }: Pick<TenantSnapshot, "policies">, plan: Plan, windows: readonly number[], at: number): Promise<void> {
    const spent = new Map<number, number>();
    const asked: number[] = [];
    for (const index of windows) {
      const window = plan.windows[index] as WindowLimit;
      // Of counters that are shared, the store itself says whether it was there when the window began.
      const unused = beginsAtZero(plan, window) && this.counters.lookAgainMs === null;
      if (window.truth === null || unused) spent.set(index, 0);
      else asked.push(index);
    }
    if (asked.length > 0) {
      await this.truth.recorded();
      const reading = this.reading(plan.tenantId, policies, at);
      for (const index of asked) reading.ask(plan.windows[index] as WindowLimit);
      for (const [index, amount] of await reading.of(plan, asked)) spent.set(index, amount);
    }
    await this.counters.warm(plan, spent, at);
  }

  /** `now`: milliseconds of the steady clock. Each window is looked at once, however many plans share it. */
  async reconcile(now: number): Promise<void> {
    const open = this.openWindows(now);
    // A tree outlives its tenant no longer than the plans that need it.
    for (const tenantId of this.trees.keys()) if (!open.has(tenantId)) this.trees.delete(tenantId);
    if (open.size > 0) await this.truth.recorded();
    for (const [tenantId, plans] of open) {
      const policies = this.trees.get(tenantId);
      if (policies === undefined) continue;
      const reading = this.reading(tenantId, policies, now);
      for (const { plan, indexes } of plans) for (const index of indexes) reading.ask(plan.windows[index] as WindowLimit);
      for (const { plan, indexes } of plans) await this.counters.warm(plan, await reading.of(plan, indexes), now);
    }
  }

  /** How many plans and trees are held, for the tests that hold it to a bound. */
  get size(): number {
    return this.inUse.size + this.trees.size;
  }

  /** By tenant: the plans in use with the windows that no plan before them has. */
  private openWindows(now: number): Map<string, { plan: Plan; indexes: number[] }[]> {
    const byTenant = new Map<string, { plan: Plan; indexes: number[] }[]>();
    const seen = new Set<string>();
    for (const name of [...this.inUse.keys()]) {
      const plan = this.inUse.get(name);
      if (plan === undefined) continue;
      const open = plan.windows.flatMap((window, i) =>
        window.truth !== null && window.truth.kind !== "run" && window.resetsAt > now ? [i] : [],
      );
      if (open.length === 0) {
        this.inUse.delete(name);
        continue;
      }
      const keyOf = (i: number) => {
        const { key, epoch } = plan.windows[i] as WindowLimit;
        return `${plan.tenantId} ${key} ${epoch}`;
      };
      const unseen = open.filter((i) => !seen.has(keyOf(i)));
      for (const i of unseen) seen.add(keyOf(i));
      const others = byTenant.get(plan.tenantId);
      const one = { plan, indexes: unseen };
      if (others === undefined) byTenant.set(plan.tenantId, [one]);
      else if (unseen.length > 0) others.push(one);
    }
    return byTenant;
  }

  private reading(tenantId: string, policies: PolicyTree, at: number): Reading {
    return new Reading(this.truth, tenantId, policies, at);
  }
}
