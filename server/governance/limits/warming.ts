import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import { utcDay } from "../../directory/limits/periods.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { PolicyTree } from "../../directory/limits/policy-tree.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { beginsAtZero, type Counters, type Plan, type WindowLimit } from "./counters.ts";

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
    const spent = new Map<number, number>();
    const asked: number[] = [];
    for (const index of windows) {
      const window = plan.windows[index] as WindowLimit;
      // Of counters that are shared, the store itself says whether it was there when the window began.
      const unused = beginsAtZero(plan, window) && this.counters.lookAgainMs === null;
      if (window.truth === null || unused) spent.set(index, 0);
      else asked.push(index);
    }
    if (asked.length > 0) for (const [index, amount] of await this.read(policies, plan, asked, at)) spent.set(index, amount);
    await this.counters.warm(plan, spent, at);
  }

  /** `now`: milliseconds of the steady clock. Each window is looked at once, however many plans share it. */
  async reconcile(now: number): Promise<void> {
    const reads: Reads = new Map();
    const seen = new Set<string>();
    for (const name of [...this.inUse.keys()]) {
      const plan = this.inUse.get(name);
      const tenant = plan === undefined ? undefined : this.tenants.get(plan.tenantId);
      if (plan === undefined || tenant === undefined) continue;
      const open = plan.windows.flatMap((window, i) => (window.truth !== null && window.truth.kind !== "run" && window.resetsAt > now ? [i] : []));
      if (open.length === 0) {
        this.inUse.delete(name);
        continue;
      }
      const unseen = open.filter((i) => !seen.has(`${plan.tenantId} ${(plan.windows[i] as WindowLimit).key}`));
      if (unseen.length === 0) continue;
      for (const i of unseen) seen.add(`${plan.tenantId} ${(plan.windows[i] as WindowLimit).key}`);
      await this.counters.warm(plan, await this.read(tenant.policies, plan, unseen, now, reads), now);
    }
  }

  private async read(policies: PolicyTree, plan: Plan, indexes: readonly number[], at: number, reads: Reads = new Map()): Promise<Map<number, number>> {
    const { tenantId } = plan;
    const found = new Map<number, number>();
    for (const index of indexes) {
      const { truth, measure, startsAt } = plan.windows[index] as WindowLimit;
      if (truth === null) continue;
      if (truth.kind === "tool_results") {
        const counts = await once(reads, `tool_results ${tenantId}`, () => this.truth.toolResults(tenantId, at));
        found.set(index, counts.ofBranch(policies, { groupId: truth.groupId, item: truth.modelId, since: startsAt }));
        continue;
      }
      if (measure === "tool_calls") continue;
      if (truth.kind === "run") {
        const total = await this.truth.run(tenantId, truth.rootTaskId);
        found.set(index, total[measure]);
        continue;
      }
      if (truth.kind === "tools") {
        const counts = await once(reads, `tools ${tenantId}`, () => this.truth.tools(tenantId, at));
        found.set(index, counts.ofBranch(policies, { groupId: truth.groupId, item: truth.serverId, since: startsAt }));
        continue;
      }
      const moment = truth.period === "day" ? startsAt : Math.max(at, startsAt);
      const day = await once(reads, `${tenantId} ${utcDay(moment)}`, () => this.truth.ofDay(tenantId, moment));
      found.set(index, day.ofBranch(policies, { groupId: truth.groupId, modelId: truth.modelId, period: truth.period, measure }));
    }
    return found;
  }
}

/** What was read of the truth already, by what it is. */
type Reads = Map<string, Promise<unknown>>;

function once<T>(reads: Reads, key: string, read: () => Promise<T>): Promise<T> {
  let known = reads.get(key) as Promise<T> | undefined;
  if (known === undefined) {
    known = read();
    reads.set(key, known);
  }
  return known;
}
