import type { Database } from "../../store/database.ts";
import { moveBackfillThrough } from "../../store/usage/usage-import.ts";
import { type BucketFigure, takeBuckets, withdrawUnseen } from "../../store/usage/usage-import-buckets.ts";
import { extendImportLease, noteRunProgress, type RunProgress } from "../../store/usage/usage-import-progress.ts";
import { leaseUsageImportRun, type UsageImportRunRow } from "../../store/usage/usage-import-runs.ts";

/** Longer than any one question to a vendor may take. */
const LEASE_MS = 40_000;

export type ImportRun = Pick<UsageImportRunRow, "id" | "tenant_id" | "provider_id" | "from_day" | "to_day" | "checkpoint"> & {
  readonly lease: string;
  /** Those in a row that brought nothing. */
  attempts: number;
};

/** Takes a run that waits, or whose process is gone; undefined when there is none. */
export async function takeRun(db: Database, lease: string, now: Date): Promise<ImportRun | undefined> {
  const row = await leaseUsageImportRun(db, lease, now, new Date(now.getTime() + LEASE_MS));
  return row === undefined ? undefined : { ...row, lease };
}

/** The run is held by another process by now: what this one does is undone. */
export class LeaseLost extends Error {}

/** Holds the run for one more question, which brings no figures. Throws `LeaseLost`. */
export async function keepRun(db: Database, run: ImportRun, now: Date): Promise<void> {
  if (!(await extendImportLease(db, run.id, run.lease, new Date(now.getTime() + LEASE_MS)))) throw new LeaseLost();
}

export interface ImportStep {
  readonly source: string;
  readonly figures: readonly BucketFigure[];
  readonly checkpoint: RunProgress["checkpoint"];
  /** The window whose last page of this source this is; null before. */
  readonly completed: { readonly from: Date; readonly to: Date } | null;
  /** The day before which everything is read by now; null where nothing more is. */
  readonly readThrough: string | null;
}

/** A page and the place behind it, in one transaction: whatever stops the run, it goes on behind what was taken in. */
export async function takeImportStep(
  db: Database,
  run: ImportRun,
  { source, figures, checkpoint, completed, readThrough }: ImportStep,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const place = { tenantId: run.tenant_id, providerId: run.provider_id, source, runId: run.id };
    let imported = await takeBuckets(trx, place, figures, now);
    if (completed !== null) imported += await withdrawUnseen(trx, place, completed, now);
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    if (!(await noteRunProgress(trx, run.id, run.lease, { checkpoint, imported, leaseUntil }))) throw new LeaseLost();
    if (readThrough !== null) await moveBackfillThrough(trx, run.provider_id, { readFrom: run.from_day, day: readThrough });
  });
  run.attempts = 0;
}
