import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { PolicyTree } from "../../../directory/limits/policy-tree.ts";
import type { GroupScope } from "../../../directory/snapshot.ts";
import { type CallPlan, planExpiresAt } from "./plan.ts";

const DAY_MS = 86_400_000;
/** Per group: most use few models and tool servers, but each user may have plans of their own. */
const MAX_PLANS = 10_000;

interface Kept {
  readonly plan: CallPlan;
  readonly until: number;
}

/** A cache of limit plans per compiled group; each is valid until one of its windows resets. */
export class PlanCache {
  private readonly plans = new WeakMap<GroupScope, BoundedMap<string, Kept>>();
  /** When the first call arrived under each policy tree. */
  private readonly since = new WeakMap<PolicyTree, number>();

  /** `key` identifies everything else that the plan depends on. */
  of(scope: GroupScope, key: string, at: number, make: () => CallPlan): CallPlan {
    let plans = this.plans.get(scope);
    if (plans === undefined) {
      plans = new BoundedMap(MAX_PLANS);
      this.plans.set(scope, plans);
    }
    const known = plans.get(key);
    if (known !== undefined && at < known.until && at >= known.until - DAY_MS) return known.plan;
    const plan = { ...make(), since: this.sinceOf(scope.tenant.policies, at) };
    plans.set(key, { plan, until: planExpiresAt(plan, at) });
    return plan;
  }

  private sinceOf(policies: PolicyTree, at: number): number {
    const known = this.since.get(policies);
    if (known !== undefined) return known;
    this.since.set(policies, at);
    return at;
  }
}
