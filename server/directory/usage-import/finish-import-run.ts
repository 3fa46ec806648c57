import { storableText } from "../../kernel/text/storable.ts";
import type { Database, Trx } from "../../store/database.ts";
import { endImport } from "../../store/usage/usage-import-progress.ts";
import { matchNames, type ShownKey } from "./import-mappings.ts";
import type { ImportRun } from "./import-progress.ts";
import { runTotals } from "./reconcile-usage.ts";

interface Finish {
  readonly providerName: string;
  readonly keys: readonly ShownKey[] | null;
  readonly register: boolean;
  /** The vendor's figures for days that end after this are not complete yet. */
  readonly completeBefore: number;
}

export function finishRun(
  db: Database,
  run: ImportRun,
  { providerName, keys, register, completeBefore }: Finish,
  now: Date,
): Promise<void> {
  return db.transaction().execute(async (trx: Trx) => {
    const of = { tenantId: run.tenant_id, providerId: run.provider_id };
    const unmatched = await matchNames(trx, { ...of, providerName, keys, register }, now);
    const sums = await runTotals(trx, { ...of, from: run.from_day, to: run.to_day }, completeBefore);
    const totals = { unmatched, ...sums };
    await endImport(trx, run.id, run.lease, { status: "succeeded", error: null, finishedAt: now, resumeAt: now, totals });
  });
}

/** Null stops it permanently. */
export async function stopRun(db: Database, run: ImportRun, error: string, resumeAt: Date | null, now: Date): Promise<void> {
  const status = resumeAt === null ? "failed" : "partial";
  const finishedAt = resumeAt === null ? now : null;
  await endImport(db, run.id, run.lease, {
    status,
    error: storableText(error.slice(0, 500)),
    finishedAt,
    resumeAt: resumeAt ?? now,
    totals: null,
  });
}

/** Ends the run's turn; it continues after those that are waiting. */
export async function pauseRun(db: Database, run: ImportRun, now: Date): Promise<void> {
  await endImport(db, run.id, run.lease, { status: "queued", error: null, finishedAt: null, resumeAt: now, totals: null });
}
