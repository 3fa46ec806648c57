import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { SURVIVING_GROUP, SURVIVING_GROUPS } from "./usage-totals.ts";

export interface UsageSums {
  readonly requests: number;
  readonly errors: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Micro-dollars. */
  readonly cost: number;
  readonly unpriced_requests: number;
}

/** One part of the usage; dimensions it is not divided by are missing. */
export interface UsagePartRow extends UsageSums {
  readonly period?: string;
  readonly resource_group_id?: string | null;
  readonly resource_group_name?: string | null;
  readonly api_key_id?: string | null;
  readonly api_key_name?: string | null;
  readonly model?: string;
}

export interface UsageScope {
  readonly tenantId: string;
  /** Whole hours. */
  readonly from: Date;
  readonly to: Date;
  readonly resourceGroupId: string | undefined;
  readonly subgroups: boolean;
  readonly apiKeyId: string | undefined;
  readonly model: string | undefined;
}

/** What usage can be divided by: the source column, its SQL expression, and the member that names it in the result. */
const PARTS = {
  hour: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')`, shown: "period" },
  day: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')`, shown: "period" },
  month: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM')`, shown: "period" },
  resource_group: { of: "resource_group_id", column: `nullif(${SURVIVING_GROUP}, '')`, shown: "resource_group_id" },
  api_key: { of: "api_key_id", column: "nullif(u.api_key_id, '')", shown: "api_key_id" },
  model: { of: "llm_model_used", column: "u.llm_model_used", shown: "model" },
} as const;

const SUMS = ["requests", "errors", "prompt_tokens", "completion_tokens", "unpriced_requests"] as const;
/** The name that is read for an ID. */
const NAMES: Readonly<Partial<Record<(typeof PARTS)[keyof typeof PARTS]["shown"], (tenantId: string) => RawBuilder<unknown>>>> = {
  resource_group_id: (tenantId) =>
    sql`(SELECT g.name FROM resource_groups g WHERE g.tenant_id = ${tenantId} AND g.id::text = p.resource_group_id) AS resource_group_name`,
  api_key_id: (tenantId) =>
    sql`(SELECT k.name FROM api_keys k WHERE k.tenant_id = ${tenantId} AND k.id::text = p.api_key_id) AS api_key_name`,
};

/** Aggregates by the raw columns first, so that expressions such as day names are computed for few rows. */
function addedUp({ tenantId, from, to, resourceGroupId, apiKeyId, model }: UsageScope, columns: ReadonlySet<string>): RawBuilder<unknown> {
  const needed = [...(resourceGroupId === undefined ? columns : new Set([...columns, "resource_group_id"]))];
  const others = needed.includes("resource_group_id") ? sql`` : sql`, NULL::text AS resource_group_id`;
  return sql`(
      SELECT tenant_id, ${sql.join(needed.map((column) => sql.ref(column)))}${others},
        ${sql.join([...SUMS, "cost_micro_usd"].map((name) => sql`sum(${sql.ref(name)})::bigint AS ${sql.ref(name)}`))}
      FROM usage_hourly WHERE tenant_id = ${tenantId} AND hour >= ${from} AND hour < ${to}
        AND (${apiKeyId ?? null}::text IS NULL OR api_key_id = ${apiKeyId ?? null}::text)
        AND (${model ?? null}::text IS NULL OR llm_model_used = ${model ?? null}::text)
      GROUP BY tenant_id, ${sql.join(needed.map((column) => sql.ref(column)))})`;
}

/**
 * A tenant's usage, divided: periods in order, other parts by descending cost. Read from the hourly totals, which outlive rows. Usage of a
 * deleted group counts for its nearest remaining ancestor, as it does for limits.
 */
export async function readUsage(
  db: Database,
  scope: UsageScope,
  dividedBy: readonly (keyof typeof PARTS)[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: UsagePartRow[]; readonly total: number; readonly totals: UsageSums }> {
  const { tenantId, resourceGroupId, subgroups } = scope;
  const hours = addedUp(scope, new Set(dividedBy.map((part) => PARTS[part].of)));
  const shown = dividedBy.map((part) => PARTS[part].shown);
  const names = shown.flatMap((one) => NAMES[one]?.(tenantId) ?? []);
  const { rows } = await sql<{ total: number; totals: UsageSums; items: UsagePartRow[] }>`
    WITH RECURSIVE branch AS (
      SELECT id FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${resourceGroupId ?? null}::uuid
      UNION ALL SELECT g.id FROM resource_groups g JOIN branch ON g.parent_group_id = branch.id WHERE ${subgroups}::boolean),
    parts AS (
      SELECT ${sql.join([
        ...dividedBy.map((part) => sql`${sql.raw(PARTS[part].column)} AS ${sql.ref(PARTS[part].shown)}`),
        ...SUMS.map((name) => sql`coalesce(sum(${sql.ref(`u.${name}`)}), 0)::bigint AS ${sql.ref(name)}`),
        sql`coalesce(sum(u.cost_micro_usd), 0)::bigint AS cost`,
      ])}
      FROM ${hours} u ${sql.raw(SURVIVING_GROUPS)}
        WHERE (${resourceGroupId ?? null}::text IS NULL OR ${sql.raw(SURVIVING_GROUP)} IN (SELECT id::text FROM branch) OR u.resource_group_id = ${resourceGroupId ?? null}::text)
      GROUP BY ${sql.join(dividedBy.map((_, at) => sql.raw(String(at + 1))))})
    SELECT (SELECT count(*)::int FROM parts) AS total,
      (SELECT row_to_json(t) FROM (SELECT ${sql.join([...SUMS, "cost" as const].map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint AS ${sql.ref(name)}`))} FROM parts) t) AS totals,
      (SELECT coalesce(json_agg(q), '[]'::json) FROM (
        SELECT ${sql.join([sql`p.*`, ...names])} FROM parts p
        ORDER BY ${sql.join([...(shown.includes("period") ? [sql`p.period`] : []), sql`p.cost DESC`, sql`p.requests DESC`, ...shown.map((one) => sql.ref(`p.${one}`))])}
        LIMIT ${limit} OFFSET ${offset}) q) AS items`.execute(db);
  const [found] = rows;
  if (found === undefined) throw new Error("usage was read and nothing came back");
  return found;
}
