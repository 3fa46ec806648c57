import type { Database } from "../../store/database.ts";
import { type CallTotal, callTotals, runTotal, type RunTotal, type UsageTotal, usageTotals } from "../../store/usage-totals.ts";
import { type HourlyCount, toolResultsOfDay, toolUsageOfDay } from "../../store/tool-usage.ts";
import { utcDay } from "./periods.ts";
import type { PolicyTree } from "./policy-tree.ts";

/** How the calls of the gateway's own are filed, of which the truth counts no request. */
export type { OwnCall } from "../../store/own-calls.ts";
export type { CallTotal } from "../../store/usage-totals.ts";

interface GroupUse {
  readonly groupId: string;
  /** Null: of all models. */
  readonly modelId: string | null;
  readonly period: "day" | "month";
  readonly measure: "requests" | "tokens" | "micros";
}

/** What the groups of a tenant used in one day and its month. */
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

  /** What the group and all below it used; added up once for each question. */
  ofBranch(tree: PolicyTree, { groupId, modelId, period, measure }: GroupUse): number {
    const column = `${period}_${measure}` as const;
    const key = `${groupId} ${column} ${modelId ?? ""}`;
    let sum = this.sums.get(key);
    if (sum === undefined) {
      sum = 0;
      for (const { id } of tree.branch(groupId)) for (const total of this.byGroup.get(id) ?? []) if (total.model_id === modelId) sum += total[column];
      this.sums.set(key, sum);
    }
    return sum;
  }
}

/** What the groups of a tenant did in one day, hour by hour. */
class CountsOfDay {
  private readonly counts: readonly HourlyCount[];

  constructor(counts: readonly HourlyCount[]) {
    this.counts = counts;
  }

  /** What the group and all below it did since `since`, milliseconds, the beginning of an hour. */
  ofBranch(tree: PolicyTree, { groupId, item, since }: { readonly groupId: string; readonly item: string | null; readonly since: number }): number {
    const branch = new Set(tree.branch(groupId).map(({ id }) => id));
    return this.counts.reduce((sum, { resource_group_id: id, item: one, hour, count }) => (branch.has(id) && one === item && hour >= since ? sum + count : sum), 0);
  }
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

  /** The day and month of `at`. Rejects when the database is away. */
  async ofDay(tenantId: string, at: number): Promise<UsageOfDay> {
    return new UsageOfDay(await this.totals(tenantId, utcDay(at)));
  }

  /** Calls of tool servers in the day of `at`. Rejects when the database is away. */
  async tools(tenantId: string, at: number): Promise<CountsOfDay> {
    await within(this.shipped());
    return new CountsOfDay(await within(toolUsageOfDay(this.db, tenantId, at)));
  }

  /** Results of tool calls that requests to models carried in the day of `at`, where a cap counts them. Rejects when the database is away. */
  async toolResults(tenantId: string, at: number): Promise<CountsOfDay> {
    await within(this.shipped());
    return new CountsOfDay(await within(toolResultsOfDay(this.db, tenantId, at)));
  }

  async run(tenantId: string, rootTaskId: string): Promise<RunTotal> {
    await within(this.shipped());
    return within(runTotal(this.db, tenantId, rootTaskId));
  }

  /** What the rows of these calls say; of an interrupted call nothing. Ids without a row are not in it. */
  async calls(tenantId: string, ids: readonly string[]): Promise<Map<string, CallTotal>> {
    const rows = await within(callTotals(this.db, tenantId, ids));
    return new Map(rows.map((row) => [row.id, row]));
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
