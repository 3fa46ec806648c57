import type { UsageImportRun } from "@gatehouse/contracts/usage-import";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { unitsOfNano } from "../../kernel/nano-money.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { lockDueImports, setNextImport } from "../../store/usage/due-imports.ts";
import {
  hastenUsageImportRun,
  insertUsageImportRun,
  openUsageImportRun,
  usageImportRunPage,
  type UsageImportRunRow,
} from "../../store/usage/usage-import-runs.ts";
import type { Directory, Write } from "../writes/write.ts";
import { nextImport } from "./import-schedule.ts";
import { getImportProvider } from "./import-settings.ts";

const DAY_MS = 86_400_000;
const FIRST_DAYS = 30;
const AT_ONCE = 20;

const dayText = (at: Date) => at.toISOString().slice(0, 10);

const read = (row: UsageImportRunRow): UsageImportRun => ({
  id: row.id,
  provider_id: row.provider_id,
  status: row.status as UsageImportRun["status"],
  cause: row.cause as UsageImportRun["cause"],
  started_at: row.started_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
  from: row.from_day,
  to: row.to_day,
  rows_imported: row.rows_imported,
  unmatched: row.unmatched,
  cost_usd: row.cost_nano_usd === null ? null : unitsOfNano(BigInt(row.cost_nano_usd)),
  difference_usd: row.difference_nano_usd === null ? null : unitsOfNano(BigInt(row.difference_nano_usd)),
  error: row.error,
});

export async function listImportRuns(directory: Directory, tenantId: string, id: string, page: Page): Promise<Paged<UsageImportRun>> {
  await getImportProvider(directory.db, tenantId, id);
  const { items, total } = await usageImportRunPage(directory.db, tenantId, id, page);
  return { items: items.map(read), total };
}

interface ImportToQueue {
  readonly tenantId: string;
  readonly providerId: string;
  readonly cause: UsageImportRun["cause"];
  readonly through: string | null;
}

/** Resumes an open run at once, or otherwise queues one from where everything was read to the end of today. */
async function queue(trx: Trx, { tenantId, providerId, cause, through }: ImportToQueue, now: Date): Promise<string> {
  const open = await openUsageImportRun(trx, providerId);
  if (open !== undefined) {
    await hastenUsageImportRun(trx, open.id, now);
    return open.id;
  }
  const id = uuid();
  await insertUsageImportRun(trx, {
    id,
    tenant_id: tenantId,
    provider_id: providerId,
    status: "queued",
    cause,
    started_at: now,
    from_day: through ?? dayText(new Date(now.getTime() - FIRST_DAYS * DAY_MS)),
    to_day: dayText(new Date(now.getTime() + DAY_MS)),
    error: null,
    resume_at: now,
    lease: null,
  });
  return id;
}

export async function runImport(write: Write, tenantId: string, providerId: string): Promise<UsageImportRun> {
  const provider = await getImportProvider(write.trx, tenantId, providerId);
  if (!provider.supported) throw new Refused(refuse("conflict", "Nobody tells of the use of this provider."));
  if (!provider.has_api_key) throw new Refused(refuse("conflict", "The import has no api_key: set the account's first."));
  const id = await queue(write.trx, { tenantId, providerId, cause: "manual", through: provider.import_backfill_through }, write.now);
  const row = await openUsageImportRun(write.trx, providerId);
  if (row === undefined) throw new Error("a run is not there after it was queued");
  const run = read(row);
  write.log({ tenant_id: tenantId, action: "run", resource: "usage-import-providers", resource_id: providerId, after: { run_id: id } });
  return run;
}

/** Queues the imports that are due. Safe in several processes at once. */
export function queueDueImports(db: Database, now: Date): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const due = await lockDueImports(trx, now, AT_ONCE);
    for (const { provider_id: providerId, tenant_id: tenantId, import_schedule_cron: cron, import_backfill_through: through } of due) {
      await queue(trx, { tenantId, providerId, cause: "schedule", through }, now);
      await setNextImport(trx, providerId, nextImport(cron, providerId, now));
    }
    return due.length;
  });
}
