import type { UsageTruth } from "../../../directory/limits/usage-truth.ts";
import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { PolicyTree } from "../../../directory/limits/policy-tree.ts";
import type { TenantSnapshot } from "../../../directory/snapshot.ts";
import type { Counters, Plan, WindowLimit } from "./counters.ts";
import { beginsAtZero } from "./window-amounts.ts";
import { Reading } from "../plans/plan-reading.ts";

/** Most plans that are reconciled; beyond it the least recently used are dropped. */
const MAX_PLANS = 20_000;

/**
 * Loads counters from the usage totals: a window before its first use, and all windows in use repeatedly, since other
 * processes add to the totals, as does one that returns after it was taken for dead. Within an epoch counters are only
 * ever raised, because totals may lag behind but are never too high.
 */
export class Warming {
  private readonly inUse = new BoundedMap<string, Plan>(MAX_PLANS);
  /** The newest policy tree of each tenant with a plan in use; it determines which groups' usage is summed. */
  private readonly trees = new Map<string, PolicyTree>();
  private readonly counters: Counters;
  private readonly truth: UsageTruth;

  constructor(counters: Counters, truth: UsageTruth) {
    this.counters = counters;
    this.truth = truth;
  }

  /** Keeps the plan's windows reconciled from now on, replacing the previous plan of that `name`. */
  keep(name: string, plan: Plan, tenant: Pick<TenantSnapshot, "policies">): void {
    const key = `${plan.tenantId} ${name}`;
    if (plan.windows.length === 0) return this.inUse.delete(key);
    this.inUse.set(key, plan);
    this.trees.set(plan.tenantId, tenant.policies);
  }

  /** The tenant's newest policy tree; undefined if none of its plans is in use. */
  policiesOf(tenantId: string): PolicyTree | undefined {
    return this.trees.get(tenantId);
  }

  /** Loads the given windows. `at`: the time whose windows are open (ms). Rejects if the usage totals cannot be read. */
  async warm({ policies }: Pick<TenantSnapshot, "policies">, plan: Plan, windows: readonly number[], at: number): Promise<void> {
    const spent = new Map<number, number>();
    const missing: number[] = [];
    for (const index of windows) {
      const window = plan.windows[index] as WindowLimit;
      // A shared store decides by itself whether it already existed when the window began.
      const unused = beginsAtZero(plan, window) && this.counters.lookAgainMs === null;
      if (window.truth === null || unused) spent.set(index, 0);
      else missing.push(index);
    }
    if (missing.length > 0) {
      await this.truth.recorded();
      const reading = this.reading(plan.tenantId, policies, at);
      for (const index of missing) reading.ask(plan.windows[index] as WindowLimit);
      for (const [index, amount] of await reading.of(plan, missing)) spent.set(index, amount);
    }
    await this.counters.warm(plan, spent, at);
  }

  /** Reconciles all windows in use; a window shared by several plans is read once. `now`: ms of the monotonic clock. */
  async reconcile(now: number): Promise<void> {
    const open = this.openWindows(now);
    // Drop the trees of tenants without plans in use.
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

  /** Number of plans and trees kept, for the tests that check its bound. */
  get size(): number {
    return this.inUse.size + this.trees.size;
  }

  /** By tenant: the plans in use, each with the windows that no earlier plan has. */
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
