import type { RUN_OUTCOMES } from "@gatehouse/contracts/runs";
import { sql, type RawBuilder } from "kysely";
import type { RunState } from "./runs.ts";

export interface RunFilters {
  readonly state?: RunState | undefined;
  readonly outcome?: (typeof RUN_OUTCOMES)[number] | undefined;
  /** ISO 8601; runs that started at or after this time. */
  readonly from?: string | undefined;
  /** ISO 8601; runs that started before this time. */
  readonly to?: string | undefined;
}

/** Filters that are not given do not appear in the SQL, so that the matching index is used. */
export function runPageConditions(tenantId: string, groupId: string, { state, outcome, from, to }: RunFilters): RawBuilder<boolean> {
  const all: RawBuilder<unknown>[] = [sql`tenant_id = ${tenantId}`, sql`resource_group_id = ${groupId}`];
  if (state !== undefined) all.push(sql`state = ${sql.lit(state)}`);
  if (outcome !== undefined) all.push(sql`outcome = ${sql.lit(outcome)}`);
  if (from !== undefined) all.push(sql`runs.started_at >= ${from}::timestamptz`);
  if (to !== undefined) all.push(sql`runs.started_at < ${to}::timestamptz`);
  return sql<boolean>`${sql.join(all, sql` AND `)}`;
}
