import { FEW_GROUPS, type UsageOfDay, type UsageTruth } from "../../directory/limits/usage-truth.ts";
import { utcDay } from "../../directory/limits/periods.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { PolicyTree } from "../../directory/limits/policy-tree.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { beginsAtZero, type Counters, type Plan, type Truth, type WindowLimit } from "./counters.ts";

/** How many plans are kept up with the truth: those in use, the ones used last when there are more. */
const MOST_PLANS = 20_000;

/**
 * Brings counters up to the truth: a window nobody counted yet before its first call, and all windows in use again and
 * again, because other processes add to the truth as well, and so does one that comes back after it was taken for dead.
 * A counter is only ever raised: the truth is late, not wrong.
 */
export class Warming {
  private readonly inUse = new BoundedMap<string, Plan>(MOST_PLANS);
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
      const keyOf = (i: number) => `${plan.tenantId} ${(plan.windows[i] as WindowLimit).key}`;
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

type OfGroup = Extract<Truth, { kind: "group" }>;

/** What is read of a tenant's truth at one moment, for the windows that were asked about before: each part of it once. */
class Reading {
  private readonly questions = new Map<
    string,
    { month: boolean; all: boolean; readonly models: Set<string>; readonly groups: Set<string> }
  >();
  private readonly reads = new Map<string, Promise<unknown>>();
  private readonly truth: UsageTruth;
  private readonly tenantId: string;
  private readonly policies: PolicyTree;
  private readonly at: number;

  constructor(truth: UsageTruth, tenantId: string, policies: PolicyTree, at: number) {
    this.truth = truth;
    this.tenantId = tenantId;
    this.policies = policies;
    this.at = at;
  }

  ask(window: WindowLimit): void {
    const { truth } = window;
    if (truth?.kind !== "group") return;
    const day = utcDay(this.momentOf(window, truth));
    let question = this.questions.get(day);
    if (question === undefined) this.questions.set(day, (question = { month: false, all: false, models: new Set(), groups: new Set() }));
    if (truth.period === "month") question.month = true;
    if (truth.modelId !== null) question.models.add(truth.modelId);
    if (question.all) return;
    for (const { id } of this.policies.branch(truth.groupId)) question.groups.add(id);
    question.all = question.groups.size > FEW_GROUPS;
  }

  async of(plan: Plan, indexes: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    for (const index of indexes) {
      const window = plan.windows[index] as WindowLimit;
      const { truth, measure, startsAt } = window;
      if (truth === null) continue;
      if (truth.kind === "tool_results") {
        const counts = await this.once("tool_results", () => this.truth.toolResults(this.tenantId, this.at));
        found.set(index, counts.ofBranch(this.policies, { groupId: truth.groupId, item: truth.modelId, since: startsAt }));
        continue;
      }
      if (measure === "tool_calls") continue;
      if (truth.kind === "run") {
        const total = await this.truth.run(this.tenantId, truth.rootTaskId);
        found.set(index, total[measure]);
        continue;
      }
      if (truth.kind === "tools") {
        const counts = await this.once("tools", () => this.truth.tools(this.tenantId, this.at));
        found.set(index, counts.ofBranch(this.policies, { groupId: truth.groupId, item: truth.serverId, since: startsAt }));
        continue;
      }
      const day = await this.day(this.momentOf(window, truth));
      found.set(index, day.ofBranch(this.policies, { groupId: truth.groupId, modelId: truth.modelId, period: truth.period, measure }));
    }
    return found;
  }

  private momentOf({ startsAt }: WindowLimit, { period }: OfGroup): number {
    return period === "day" ? startsAt : Math.max(this.at, startsAt);
  }

  private day(moment: number): Promise<UsageOfDay> {
    const day = utcDay(moment);
    return this.once(day, () => {
      const { month, all, models, groups } = this.questions.get(day) ?? { month: true, all: true, models: [], groups: [] };
      return this.truth.ofDay(this.tenantId, moment, { month, modelIds: [...models].sort(), groupIds: all ? null : [...groups].sort() });
    });
  }

  private once<T>(key: string, read: () => Promise<T>): Promise<T> {
    let known = this.reads.get(key) as Promise<T> | undefined;
    if (known === undefined) this.reads.set(key, (known = read()));
    return known;
  }
}
