import { sql } from "kysely";
import type { Database } from "../database.ts";
import type { Page, Paged } from "../records/paging.ts";
import { type RunFilters, runPageConditions } from "./run-page-conditions.ts";
import { RUN_COLUMNS, type RunRow } from "./runs.ts";

export interface RunPage extends Paged<RunRow> {
  /** False if `total` was not counted run by run. */
  readonly exact: boolean;
}

/** Counting further costs more than the page itself. */
const COUNTED = 1_000;

/**
 * Runs of a resource group, newest first. Beyond a thousand, the total comes from hourly sums, which start with the hour containing `from`
 * and of which the last may still be running; with both a state and an outcome filter there are no such sums, and the total is what was
 * counted.
 */
export async function readRunPage(db: Database, tenantId: string, groupId: string, filters: RunFilters, page: Page): Promise<RunPage> {
  const where = runPageConditions(tenantId, groupId, filters);
  const [found, counted] = await Promise.all([
    sql<RunRow>`SELECT ${RUN_COLUMNS} FROM runs WHERE ${where} ORDER BY runs.started_at DESC, root_task_id LIMIT ${page.limit + 1} OFFSET ${page.offset}`.execute(
      db,
    ),
    sql<{
      total: number;
    }>`SELECT count(*) AS total FROM (SELECT FROM runs WHERE ${where} ORDER BY runs.started_at DESC LIMIT ${COUNTED + 1}) AS counted`.execute(
      db,
    ),
  ]);
  const items = found.rows.slice(0, page.limit);
  const total = counted.rows[0]?.total ?? 0;
  if (total <= COUNTED) return { items, total, exact: true };
  // Always beyond this page while there is more, so that reading on until the total misses no run.
  return {
    items,
    total: Math.max(COUNTED, page.offset + found.rows.length, await hoursTotal(db, tenantId, groupId, filters)),
    exact: false,
  };
}

async function hoursTotal(db: Database, tenantId: string, groupId: string, { state, outcome, from, to }: RunFilters): Promise<number> {
  if (state !== undefined && outcome !== undefined) return 0;
  const { rows } = await sql<{ total: number }>`
    SELECT coalesce(sum(${sql.ref(state ?? outcome ?? "runs")}), 0)::bigint AS total FROM run_hourly
    WHERE tenant_id = ${tenantId} AND resource_group_id = ${groupId}
      AND hour >= date_trunc('hour', coalesce(${from ?? null}::timestamptz, '-infinity'), 'UTC') AND hour < coalesce(${to ?? null}::timestamptz, 'infinity')`.execute(
    db,
  );
  return rows[0]?.total ?? 0;
}
