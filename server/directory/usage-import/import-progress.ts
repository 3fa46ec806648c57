import type { Database } from "../../store/database.ts";
import { moveBackfillThrough } from "../../store/usage/usage-import.ts";
import { type BucketFigure, takeBuckets, withdrawMissing } from "../../store/usage/usage-import-buckets.ts";
import { extendImportLease, noteRunProgress, type RunProgress } from "../../store/usage/usage-import-progress.ts";
import { leaseUsageImportRun, type UsageImportRunRow } from "../../store/usage/usage-import-runs.ts";

/** Longer than any single request to a vendor may take. */
const LEASE_MS = 40_000;

export type ImportRun = Pick<UsageImportRunRow, "id" | "tenant_id" | "provider_id" | "from_day" | "to_day" | "checkpoint"> & {
  readonly lease: string;
  /** Consecutive attempts without progress. */
  attempts: number;
};

/** Claims a run that is waiting or whose lease has expired; undefined if there is none. */
export async function takeRun(db: Database, lease: string, now: Date): Promise<ImportRun | undefined> {
  const row = await leaseUsageImportRun(db, lease, now, new Date(now.getTime() + LEASE_MS));
  return row === undefined ? undefined : { ...row, lease };
}

/** Another process has taken over the run; this one's work is rolled back. */
export class LeaseLost extends Error {}

/** Renews the lease for a request that brings no figures. Throws `LeaseLost`. */
export async function keepRun(db: Database, run: ImportRun, now: Date): Promise<void> {
  if (!(await extendImportLease(db, run.id, run.lease, new Date(now.getTime() + LEASE_MS)))) throw new LeaseLost();
}

export interface ImportStep {
  readonly source: string;
  readonly figures: readonly BucketFigure[];
  readonly checkpoint: RunProgress["checkpoint"];
  /** The window of which this is the source's last page; null before that. */
  readonly completed: { readonly from: Date; readonly to: Date } | null;
  /** The day up to which everything has now been read; null if that has not advanced. */
  readonly readThrough: string | null;
}

/** Stores a page together with the position after it in one transaction, so that an interrupted run continues exactly there. */
export async function takeImportStep(
  db: Database,
  run: ImportRun,
  { source, figures, checkpoint, completed, readThrough }: ImportStep,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const place = { tenantId: run.tenant_id, providerId: run.provider_id, source, runId: run.id };
    let imported = await takeBuckets(trx, place, figures, now);
    if (completed !== null) imported += await withdrawMissing(trx, place, completed, now);
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    if (!(await noteRunProgress(trx, run.id, run.lease, { checkpoint, imported, leaseUntil }))) throw new LeaseLost();
    if (readThrough !== null) await moveBackfillThrough(trx, run.provider_id, { readFrom: run.from_day, day: readThrough });
  });
  run.attempts = 0;
}
