import type { Database } from "../../store/database.ts";
import { runTotal, type RunTotal, type UsageTotal, usageTotals } from "../../store/usage-totals.ts";
import { utcDay } from "./periods.ts";
import type { PolicyTree } from "./policy-tree.ts";

export interface GroupUse {
  readonly groupId: string;
  /** Null: of all models. */
  readonly modelName: string | null;
  readonly period: "day" | "month";
  readonly measure: "requests" | "tokens" | "micros";
}

const WITHIN_MS = 10_000;

/**
 * What was used, as the usage totals in the database say: the truth that counters are warmed from and held to. Rows that
 * this process has sealed are shipped before it is read.
 */
export class UsageTruth {
  private readonly loading = new Map<string, Promise<UsageTotal[]>>();
  private readonly db: Database;
  private readonly shipped: () => Promise<void>;

  /** `shipped` resolves when every row sealed so far is in the database. */
  constructor(db: Database, shipped: () => Promise<void>) {
    this.db = db;
    this.shipped = shipped;
  }

  /** What each branch of groups used in its open window, in the order asked. Rejects when the database is away. */
  async groups(tenantId: string, tree: PolicyTree, uses: readonly GroupUse[], at: number): Promise<number[]> {
    const byGroup = new Map<string, UsageTotal[]>();
    for (const total of await this.totals(tenantId, utcDay(at))) {
      const known = byGroup.get(total.resource_group_id);
      if (known === undefined) byGroup.set(total.resource_group_id, [total]);
      else known.push(total);
    }
    return uses.map(({ groupId, modelName, period, measure }) => {
      const column = `${period}_${measure}` as const;
      let sum = 0;
      for (const { id } of tree.branch(groupId)) for (const total of byGroup.get(id) ?? []) if (modelName === null || total.llm_model_used === modelName) sum += total[column];
      return sum;
    });
  }

  async run(tenantId: string, rootTaskId: string): Promise<RunTotal> {
    await within(this.shipped());
    return within(runTotal(this.db, tenantId, rootTaskId));
  }

  /** Calls that ask for the same at once share one read. */
  private totals(tenantId: string, day: string): Promise<UsageTotal[]> {
    const key = `${tenantId} ${day}`;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = within(this.shipped())
      .then(() => within(usageTotals(this.db, tenantId, day)))
      .finally(() => this.loading.delete(key));
    this.loading.set(key, load);
    return load;
  }
}

function within<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the usage totals could not be read in time")), WITHIN_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
