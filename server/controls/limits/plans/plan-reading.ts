import type { UsageOfDay } from "../../../directory/limits/usage-of-day.ts";
import { readsEachGroup, type UsageTruth } from "../../../directory/limits/usage-truth.ts";
import { utcDay } from "../../../directory/limits/periods.ts";
import type { PolicyTree } from "../../../directory/limits/policy-tree.ts";
import type { Plan, Truth, WindowLimit } from "../counters/counters.ts";

type OfGroup = Extract<Truth, { kind: "group" }>;

/** Reads a tenant's usage totals at one moment for all windows passed to `ask`, each part once. */
export class Reading {
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
    question.all = !readsEachGroup(question.groups.size);
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
      if (truth.kind === "skills") {
        const counts = await this.once("skills", () => this.truth.skills(this.tenantId, this.at));
        found.set(index, counts.ofBranch(this.policies, { groupId: truth.groupId, item: truth.skillId, since: startsAt }));
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
