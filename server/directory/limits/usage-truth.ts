import type { Database } from "../../store/database.ts";
import {
  type CallTotal,
  callTotals,
  FEW_GROUPS,
  runTotal,
  type RunTotal,
  type UsageQuery,
  type UsageTotal,
  usageTotals,
} from "../../store/usage/usage-totals.ts";
import { skillUsageOfDay } from "../../store/skills/skill-usage.ts";
import { toolResultsOfDay, toolUsageOfDay } from "../../store/tools/tool-usage.ts";
import { utcDay } from "./periods.ts";
import { CountsOfDay } from "./counts-of-day.ts";
import { UsageOfDay } from "./usage-of-day.ts";

/** How the gateway's own calls are recorded. They do not count as requests. */
export type { OwnCall } from "../../store/models/own-calls.ts";
export type { CallTotal } from "../../store/usage/usage-totals.ts";

/** Whether this many groups are looked up by ID; for more, all of the tenant's are read. */
export const readsEachGroup = (groups: number): boolean => groups <= FEW_GROUPS;

const WITHIN_MS = 10_000;

/** The usage totals in the database, which are authoritative: counters are loaded from them and corrected to them. */
export class UsageTruth {
  private readonly loading = new Map<string, Promise<UsageTotal[]>>();
  private readonly db: Database;
  private readonly shipped: () => Promise<void>;

  /** `shipped` resolves when every row sealed so far is in the database. */
  constructor(db: Database, shipped: () => Promise<void>) {
    this.db = db;
    this.shipped = shipped;
  }

  /** Resolves once later reads include every row that this process has sealed so far. Rejects if the database is unreachable. */
  recorded(): Promise<void> {
    return within(this.shipped());
  }

  /** Usage of the day and month of `at`. Rejects if the database is unreachable. */
  async ofDay(tenantId: string, at: number, query: Omit<UsageQuery, "day">): Promise<UsageOfDay> {
    return new UsageOfDay(await this.totals(tenantId, { day: utcDay(at), ...query }));
  }

  /** Tool server calls in the day of `at`. Rejects if the database is unreachable. */
  async tools(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(toolUsageOfDay(this.db, tenantId, at)));
  }

  /** Skill calls in the day of `at`. Rejects if the database is unreachable. */
  async skills(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(skillUsageOfDay(this.db, tenantId, at)));
  }

  /** Tool results carried by model requests in the day of `at`, where a cap counts them. Rejects if the database is unreachable. */
  async toolResults(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(toolResultsOfDay(this.db, tenantId, at)));
  }

  async run(tenantId: string, rootTaskId: string): Promise<RunTotal> {
    await this.recorded();
    return within(runTotal(this.db, tenantId, rootTaskId));
  }

  /** The totals in these calls' rows; none for interrupted calls. IDs without a row are omitted. */
  async calls(tenantId: string, ids: readonly string[]): Promise<Map<string, CallTotal>> {
    const rows = await within(callTotals(this.db, tenantId, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Concurrent identical queries share one read. */
  private totals(tenantId: string, query: UsageQuery): Promise<UsageTotal[]> {
    const key = `${tenantId} ${JSON.stringify(query)}`;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = within(usageTotals(this.db, tenantId, query)).finally(() => this.loading.delete(key));
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
