import { sql } from "kysely";
import { microsFromUsd } from "../../kernel/money.ts";
import type { Database } from "../database.ts";
import { IS_REQUEST } from "../models/own-calls.ts";
import { isAction } from "../runs/run-facts.ts";

/** The group that a usage row `u` counts for: for a deleted group, its nearest ancestor that still exists. */
export const SURVIVING_GROUP = "coalesce(heir.heir_id::text, u.resource_group_id)";
export const SURVIVING_GROUPS = "LEFT JOIN gone_groups heir ON heir.tenant_id = u.tenant_id AND heir.group_id = u.resource_group_id";

/** A group's own usage since the first of the month, and today's part of it, of one model or of all. Days are UTC. */
export interface UsageTotal {
  readonly resource_group_id: string;
  /** Null for all models. */
  readonly model_id: string | null;
  readonly month_requests: number;
  readonly month_tokens: number;
  readonly month_micros: number;
  readonly day_requests: number;
  readonly day_tokens: number;
  readonly day_micros: number;
}

/** Up to this many groups are looked up one by one. */
export const FEW_GROUPS = 200;

/** A query of a tenant's usage: a month of a large tenant is a million rows, and most queries need few of them. */
export interface UsageQuery {
  /** As `2026-11-21`; also determines the month. */
  readonly day: string;
  /** False to read only the day; the month's figures are then the day's. */
  readonly month: boolean;
  /** Models to report separately, besides the total of all. */
  readonly modelIds: readonly string[];
  /** Null, or more than `FEW_GROUPS`, for every group. */
  readonly groupIds: readonly string[] | null;
}

/** IDs of the groups, and of the deleted groups whose usage counts for them. */
const filedUnder = (tenantId: string, groupIds: readonly string[]) =>
  sql`(${groupIds as string[]}::text[] || ARRAY(SELECT group_id FROM gone_groups WHERE tenant_id = ${tenantId} AND heir_id = ANY(${groupIds as string[]}::uuid[])))`;

export async function usageTotals(db: Database, tenantId: string, { day, month, modelIds, groupIds }: UsageQuery): Promise<UsageTotal[]> {
  const from = month ? sql`date_trunc('month', ${day}::date)::date` : sql`${day}::date`;
  const days = month ? new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate() : 1;
  // The key begins with tenant and day. For few groups, each day is looked up; for all, the days are scanned.
  const of = (table: "usage_daily" | "model_usage_daily") =>
    groupIds === null || groupIds.length > FEW_GROUPS
      ? sql`(SELECT * FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND day >= ${from} AND day < ${from} + ${days}::integer) u`
      : sql`generate_series(0, ${days}::integer - 1) AS since CROSS JOIN LATERAL (SELECT * FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} AND day = ${from} + since AND resource_group_id = ANY(${filedUnder(tenantId, groupIds)}) OFFSET 0) u`;
  const ofModels = sql`UNION ALL SELECT ${sql.raw(SURVIVING_GROUP)}, model_id, day, requests, tokens, cost_micro_usd FROM ${of("model_usage_daily")} ${sql.raw(SURVIVING_GROUPS)} WHERE model_id = ANY(${modelIds as string[]}::text[])`;
  const { rows } = await sql<UsageTotal>`
    SELECT resource_group_id, model_id, sum(requests) AS month_requests, sum(tokens) AS month_tokens, sum(micros) AS month_micros,
      coalesce(sum(requests) FILTER (WHERE day = ${day}::date), 0) AS day_requests,
      coalesce(sum(tokens) FILTER (WHERE day = ${day}::date), 0) AS day_tokens,
      coalesce(sum(micros) FILTER (WHERE day = ${day}::date), 0) AS day_micros
    FROM (
      SELECT ${sql.raw(SURVIVING_GROUP)} AS resource_group_id, NULL AS model_id, day, requests, prompt_tokens + completion_tokens AS tokens, cost_micro_usd AS micros FROM ${of("usage_daily")} ${sql.raw(SURVIVING_GROUPS)}
      ${modelIds.length === 0 ? sql`` : ofModels}) AS used
    GROUP BY 1, 2`.execute(db);
  return rows;
}

export interface RunTotal {
  readonly requests: number;
  readonly tokens: number;
  readonly micros: number;
  /** Milliseconds since the epoch; null for a run without a call yet. */
  readonly started: number | null;
}

/**
 * Totals of a run's calls shipped so far: requests and tokens of models, all costs, and the time of the first call of any kind. Traces are
 * claims and do not count towards limits.
 */
export async function runTotal(db: Database, tenantId: string, rootTaskId: string): Promise<RunTotal> {
  const { rows } = await sql<RunTotal>`
    SELECT count(*) FILTER (WHERE of_models AND llm_model_used IS NOT NULL AND ${sql.raw(IS_REQUEST)}) AS requests,
      coalesce(sum(coalesce(llm_prompt_tokens, 0) + coalesce(llm_completion_tokens, 0)) FILTER (WHERE of_models), 0) AS tokens,
      coalesce(sum(round(llm_estimated_cost_usd * 1000000)), 0) AS micros, floor(extract(epoch FROM min(timestamp)) * 1000)::bigint AS started
    FROM (SELECT *, proxy_type IN ('llm', 'batch') AS of_models FROM audit_rows
          WHERE tenant_id = ${tenantId} AND root_task_id = ${rootTaskId} AND source IS DISTINCT FROM 'otel' AND ${sql.raw(isAction("audit_rows"))}) AS called`.execute(
    db,
  );
  return rows[0] as RunTotal;
}

/** The usage of one call. */
export interface CallTotal {
  readonly tokens: number;
  readonly micros: number;
  readonly requests: number;
  /** The usage of each attempt, if the row records them. */
  readonly attempts: readonly { readonly tokens: number; readonly micros: number }[] | null;
}

/** The usage of single calls, for those that are shipped. */
export async function callTotals(db: Database, tenantId: string, ids: readonly string[]): Promise<(CallTotal & { readonly id: string })[]> {
  const { rows } = await sql<Omit<CallTotal, "attempts"> & { id: string; attempts: unknown }>`
    SELECT id, CASE WHEN llm_model_used IS NULL THEN 0 ELSE 1 END AS requests, coalesce(llm_prompt_tokens, 0) + coalesce(llm_completion_tokens, 0) AS tokens, coalesce(round(llm_estimated_cost_usd * 1000000), 0) AS micros,
      custom_metadata->'attempts' AS attempts
    FROM audit_rows WHERE tenant_id = ${tenantId} AND id = ANY(${ids as string[]})`.execute(db);
  return rows.map((row) => ({ ...row, attempts: Array.isArray(row.attempts) ? partsOf(row, row.attempts as RecordedAttempt[]) : null }));
}

interface RecordedAttempt {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: number | null;
}

/** Usage that no attempt accounts for is the last one's. */
function partsOf(
  { tokens, micros }: { tokens: number; micros: number },
  attempts: readonly RecordedAttempt[],
): { tokens: number; micros: number }[] {
  const parts = attempts.map((one) => ({
    tokens: (one.prompt_tokens ?? 0) + (one.completion_tokens ?? 0),
    micros: microsFromUsd(one.cost_usd ?? 0),
  }));
  const others = parts.slice(0, -1);
  const left = {
    tokens: others.reduce((rest, part) => rest - part.tokens, tokens),
    micros: others.reduce((rest, part) => rest - part.micros, micros),
  };
  return parts.length === 0 ? [] : [...others, { tokens: Math.max(0, left.tokens), micros: Math.max(0, left.micros) }];
}
