import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

export interface RunProgress {
  /** `pages` read so far of this source in this window, and how often it was restarted. */
  readonly checkpoint: {
    readonly window: number;
    readonly source: number;
    readonly cursor: string | null;
    readonly pages: number;
    readonly restarts: number;
  };
  readonly imported: number;
  readonly leaseUntil: Date;
}

/** Returns false if this lease no longer holds the run. */
export async function noteRunProgress(trx: Trx | Database, id: string, lease: string, progress: RunProgress): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE usage_import_runs SET checkpoint = ${JSON.stringify(progress.checkpoint)}::jsonb, rows_imported = rows_imported + ${progress.imported},
      lease_until = ${progress.leaseUntil}, attempts = 0, error = NULL
     WHERE id = ${id} AND lease = ${lease} AND finished_at IS NULL`.execute(trx);
  return numAffectedRows === 1n;
}

/** Returns false if this lease no longer holds the run. */
export async function extendImportLease(db: Database, id: string, lease: string, until: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE usage_import_runs SET lease_until = ${until} WHERE id = ${id} AND lease = ${lease} AND finished_at IS NULL`.execute(db);
  return numAffectedRows === 1n;
}

export interface ImportEnd {
  readonly status: "succeeded" | "failed" | "partial" | "queued";
  readonly error: string | null;
  /** Null while the run continues. */
  readonly finishedAt: Date | null;
  readonly resumeAt: Date;
  readonly totals: { readonly unmatched: number; readonly cost: bigint; readonly difference: bigint } | null;
}

export async function endImport(
  trx: Trx | Database,
  id: string,
  lease: string,
  { status, error, finishedAt, resumeAt, totals }: ImportEnd,
): Promise<void> {
  await sql`
    UPDATE usage_import_runs SET status = ${status}, error = ${error}, finished_at = ${finishedAt}, resume_at = ${resumeAt}, lease = NULL, lease_until = NULL,
      attempts = attempts + 1, unmatched = ${totals?.unmatched ?? null}, cost_nano_usd = ${totals?.cost.toString() ?? null}::numeric,
      difference_nano_usd = ${totals?.difference.toString() ?? null}::numeric
     WHERE id = ${id} AND lease = ${lease}`.execute(trx);
}
