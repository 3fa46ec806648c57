import { isLabelPart, type LabelPart, type UsagePart } from "@gatehouse/contracts/usage-report";
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
  readonly label?: string | null;
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
  readonly label: { readonly name: string; readonly value: string } | undefined;
}

/** What usage can be divided by: the source column, its SQL expression, and the member that names it in the result. */
const PARTS = {
  hour: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')`, shown: "period" },
  day: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')`, shown: "period" },
  month: { of: "hour", column: `to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM')`, shown: "period" },
  resource_group: { of: "resource_group_id", column: `nullif(${SURVIVING_GROUP}, '')`, shown: "resource_group_id" },
  api_key: { of: "api_key_id", column: "nullif(u.api_key_id, '')", shown: "api_key_id" },
  model: { of: "llm_model_used", column: "u.llm_model_used", shown: "model" },
  label: { of: "label_value", column: "u.label_value", shown: "label" },
} as const;
const partOf = (part: UsagePart | LabelPart) => PARTS[isLabelPart(part) ? "label" : part];

const SUMS = ["requests", "errors", "prompt_tokens", "completion_tokens", "unpriced_requests"] as const;
/** The name that is read for an ID. */
const NAMES: Readonly<Partial<Record<(typeof PARTS)[keyof typeof PARTS]["shown"], (tenantId: string) => RawBuilder<unknown>>>> = {
  resource_group_id: (tenantId) =>
    sql`(SELECT g.name FROM resource_groups g WHERE g.tenant_id = ${tenantId} AND g.id::text = p.resource_group_id) AS resource_group_name`,
  api_key_id: (tenantId) =>
    sql`(SELECT k.name FROM api_keys k WHERE k.tenant_id = ${tenantId} AND k.id::text = p.api_key_id) AS api_key_name`,
};

/** The hourly totals, of all calls or of those with a label, or those of all calls with the value of a label, null where they have none. */
function totalsWith({ tenantId, from, to, label }: UsageScope, dividedBy: string | undefined): RawBuilder<unknown> {
  const within = sql`tenant_id = ${tenantId} AND hour >= ${from} AND hour < ${to}`;
  const labelled = (name: string) => sql`labelled_usage_hourly WHERE ${within} AND label = ${name}`;
  if (label !== undefined) return sql`(SELECT *, value AS label_value FROM ${labelled(label.name)} AND value = ${label.value})`;
  if (dividedBy === undefined) return sql`(SELECT *, NULL AS label_value FROM usage_hourly WHERE ${within})`;
  const columns = sql.join(["tenant_id", "hour", "resource_group_id", "api_key_id", "llm_model_used"].map((name) => sql.ref(name)));
  const sums = [...SUMS, "cost_micro_usd"];
  // What calls with the label used is taken away from those without it, which may leave nothing.
  return sql`(
      SELECT ${columns}, NULL AS label_value, ${sql.join(sums.map((name) => sql.ref(name)))} FROM usage_hourly WHERE ${within}
      UNION ALL SELECT ${columns}, NULL, ${sql.join(sums.map((name) => sql`-${sql.ref(name)}`))} FROM ${labelled(dividedBy)}
      UNION ALL SELECT ${columns}, value, ${sql.join(sums.map((name) => sql.ref(name)))} FROM ${labelled(dividedBy)})`;
}

/** Aggregates by the raw columns first, so that expressions such as day names are computed for few rows. */
function addedUp(scope: UsageScope, columns: ReadonlySet<string>, label: string | undefined): RawBuilder<unknown> {
  const { resourceGroupId, apiKeyId, model } = scope;
  const needed = [...(resourceGroupId === undefined ? columns : new Set([...columns, "resource_group_id"]))];
  const others = needed.includes("resource_group_id") ? sql`` : sql`, NULL::text AS resource_group_id`;
  return sql`(
      SELECT tenant_id, ${sql.join(needed.map((column) => sql.ref(column)))}${others},
        ${sql.join([...SUMS, "cost_micro_usd"].map((name) => sql`sum(${sql.ref(name)})::bigint AS ${sql.ref(name)}`))}
      FROM ${totalsWith(scope, label)} t
        WHERE (${apiKeyId ?? null}::text IS NULL OR api_key_id = ${apiKeyId ?? null}::text)
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
  dividedBy: readonly (UsagePart | LabelPart)[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: UsagePartRow[]; readonly total: number; readonly totals: UsageSums }> {
  const { tenantId, resourceGroupId, subgroups } = scope;
  const label = dividedBy.find(isLabelPart)?.slice("label:".length);
  const hours = addedUp(scope, new Set(dividedBy.map((part) => partOf(part).of)), label);
  const shown = dividedBy.map((part) => partOf(part).shown);
  const names = shown.flatMap((one) => NAMES[one]?.(tenantId) ?? []);
  const { rows } = await sql<{ total: number; totals: UsageSums; items: UsagePartRow[] }>`
    WITH RECURSIVE branch AS (
      SELECT id FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${resourceGroupId ?? null}::uuid
      UNION ALL SELECT g.id FROM resource_groups g JOIN branch ON g.parent_group_id = branch.id WHERE ${subgroups}::boolean),
    parts AS (
      SELECT ${sql.join([
        ...dividedBy.map((part) => sql`${sql.raw(partOf(part).column)} AS ${sql.ref(partOf(part).shown)}`),
        ...SUMS.map((name) => sql`coalesce(sum(${sql.ref(`u.${name}`)}), 0)::bigint AS ${sql.ref(name)}`),
        sql`coalesce(sum(u.cost_micro_usd), 0)::bigint AS cost`,
      ])}
      FROM ${hours} u ${sql.raw(SURVIVING_GROUPS)}
        WHERE (${resourceGroupId ?? null}::text IS NULL OR ${sql.raw(SURVIVING_GROUP)} IN (SELECT id::text FROM branch) OR u.resource_group_id = ${resourceGroupId ?? null}::text)
      GROUP BY ${sql.join(dividedBy.map((_, at) => sql.raw(String(at + 1))))}${label === undefined ? sql`` : sql` HAVING sum(u.requests) <> 0`})
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

/** The labels that calls of a tenant had, most used first. */
export async function readUsageLabels(db: Database, { tenantId, from, to }: Pick<UsageScope, "tenantId" | "from" | "to">) {
  const { rows } = await sql<{ name: string; values: number }>`
    SELECT label AS name, count(DISTINCT value)::int AS values FROM labelled_usage_hourly
    WHERE tenant_id = ${tenantId} AND hour >= ${from} AND hour < ${to}
    GROUP BY label ORDER BY sum(requests) DESC, label LIMIT 100`.execute(db);
  return rows;
}
