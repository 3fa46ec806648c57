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

/** How the calls of the gateway's own are filed, of which the truth counts no request. */
export type { OwnCall } from "../../store/models/own-calls.ts";
export type { CallTotal } from "../../store/usage/usage-totals.ts";

/** Whether of so many groups each is looked up: of more, all of the tenant's are read, and none needs a name. */
export const looksUp = (groups: number): boolean => groups <= FEW_GROUPS;

const WITHIN_MS = 10_000;

/**
 * What was used, as the usage totals in the database say: the truth that counters are warmed from and held to.
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

  /** Resolves when what is read from now on tells of every row this process has sealed. Rejects when the database is away. */
  recorded(): Promise<void> {
    return within(this.shipped());
  }

  /** The day and month of `at`. Rejects when the database is away. */
  async ofDay(tenantId: string, at: number, asked: Omit<UsageQuery, "day">): Promise<UsageOfDay> {
    return new UsageOfDay(await this.totals(tenantId, { day: utcDay(at), ...asked }));
  }

  /** Calls of tool servers in the day of `at`. Rejects when the database is away. */
  async tools(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(toolUsageOfDay(this.db, tenantId, at)));
  }

  /** Calls of skills in the day of `at`. Rejects when the database is away. */
  async skills(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(skillUsageOfDay(this.db, tenantId, at)));
  }

  /**
   * Results of tool calls that requests to models carried in the day of `at`, where a cap counts them. Rejects when the database is away.
   */
  async toolResults(tenantId: string, at: number): Promise<CountsOfDay> {
    return new CountsOfDay(await within(toolResultsOfDay(this.db, tenantId, at)));
  }

  async run(tenantId: string, rootTaskId: string): Promise<RunTotal> {
    await this.recorded();
    return within(runTotal(this.db, tenantId, rootTaskId));
  }

  /** What the rows of these calls say; of an interrupted call nothing. Ids without a row are not in it. */
  async calls(tenantId: string, ids: readonly string[]): Promise<Map<string, CallTotal>> {
    const rows = await within(callTotals(this.db, tenantId, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Calls that ask for the same at once share one read. */
  private totals(tenantId: string, asked: UsageQuery): Promise<UsageTotal[]> {
    const key = `${tenantId} ${JSON.stringify(asked)}`;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = within(usageTotals(this.db, tenantId, asked)).finally(() => this.loading.delete(key));
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
