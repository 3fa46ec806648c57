import { sql, type RawBuilder } from "kysely";
import { adminLogStartOf } from "../ledger/admin-log.ts";
import type { Trx } from "../database.ts";
import { type FactWindow, recordedWithin } from "./fact-window.ts";

export interface Counted {
  readonly count: number;
  /** The ID of the first counted record. */
  readonly first: string | null;
}

/** What anybody may request: signing in, and published cards and keys. */
const OPEN_TO_ALL = sql`(r.proxy_type IN ('portal', 'oauth') OR r.proxy_subtype IN ('agent_card', 'agent_keys'))`;

const CONDITIONS = {
  calls: sql`true`,
  anonymous: sql`r.gateway_user_id IS NULL AND r.api_key_id IS NULL AND r.subject_id IS NULL AND r.erased_at IS NULL AND r.http_status_code < 400 AND ${OPEN_TO_ALL} IS NOT TRUE`,
  denied: sql`r.http_status_code IN (401, 403)`,
  guarded: sql`r.guardrail_check IS NOT NULL OR r.guardrail_blocked`,
  approved: sql`r.consumed_approval_request_id IS NOT NULL`,
  regionAllowed: sql`r.residency_class = 'allowed'`,
  regionBlocked: sql`r.residency_class = 'blocked'`,
  regionUnknown: sql`r.residency_class = 'not_evaluated'`,
  personal: sql`r.pii_detected`,
  lookedFor: sql`r.pii_detected IS NOT NULL`,
  withheld: sql`r.pii_detected AND r.guardrail_action IN ('block', 'redact')`,
  // A provider's 429 is passed on with its status, but was no limit of the gateway.
  limited: sql`r.error_type IN ('rate_limit_exceeded', 'usage_limit_reached', 'run_ceiling_reached', 'tool_call_limit_exceeded')`,
  interrupted: sql`r.error_type = 'gateway_interrupted'`,
  pruned: sql`r.bodies_pruned_at IS NOT NULL`,
  erased: sql`r.erased_at IS NOT NULL`,
  // Streams that broke off had begun with 200, and a provider's own rate limit is passed on as 429.
  failed: sql`r.http_status_code >= 500 OR (r.error_type = 'upstream_rejected' AND r.http_status_code = 429) OR (r.success IS FALSE AND r.error_type IN ('internal_error', 'upstream_interrupted', 'upstream_timeout', 'upstream_unreachable', 'upstream_overloaded', 'upstream_invalid_response'))`,
  // A trace may say only which model was requested.
  models: sql`r.llm_model_used IS NOT NULL OR (r.source = 'otel' AND r.llm_model_requested IS NOT NULL)`,
  unpriced: sql`r.llm_total_tokens > 0 AND r.llm_estimated_cost_usd IS NULL`,
} satisfies Record<string, RawBuilder<unknown>>;

export type RowFact = keyof typeof CONDITIONS;

export async function countRows(trx: Trx, window: FactWindow): Promise<Record<RowFact, Counted>> {
  const names = Object.keys(CONDITIONS) as RowFact[];
  const columns = names.flatMap((name) => [
    sql`count(*) FILTER (WHERE ${CONDITIONS[name]}) AS ${sql.id(`${name}_count`)}`,
    sql`min(r.id) FILTER (WHERE ${CONDITIONS[name]}) AS ${sql.id(`${name}_first`)}`,
  ]);
  const { rows } = await sql<Record<string, number | string | null>>`
    SELECT ${sql.join(columns)} FROM audit_rows r WHERE ${recordedWithin(window)}`.execute(trx);
  const row = rows[0] ?? {};
  return Object.fromEntries(
    names.map((name) => [name, { count: Number(row[`${name}_count`] ?? 0), first: (row[`${name}_first`] ?? null) as string | null }]),
  ) as Record<RowFact, Counted>;
}

/** Entries of the admin log by the resource they are about. */
export async function countAdminLog(trx: Trx, { tenantId, from, to }: FactWindow): Promise<ReadonlyMap<string, Counted>> {
  const { rows } = await sql<{ resource: string; count: number; first: string }>`
    SELECT resource, count(*) AS count, min(id) AS first FROM admin_log
     WHERE tenant_id = ${tenantId} AND at >= ${from} AND at < ${to} AND coalesce(chain_seq, 0) >= ${await adminLogStartOf(trx, tenantId)}
     GROUP BY resource ORDER BY resource COLLATE "C"`.execute(trx);
  return new Map(rows.map(({ resource, count, first }) => [resource, { count: Number(count), first }]));
}

/** Checkpoints signed in the window over any chain, whichever tenant's rows they cover. */
export async function countCheckpoints(trx: Trx, { from, to }: FactWindow): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM audit_checkpoints WHERE signed_at >= ${from} AND signed_at < ${to}`.execute(trx);
  return Number(rows[0]?.count ?? 0);
}

export async function countEnabledGuardrails(trx: Trx, tenantId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM guardrail_configs WHERE tenant_id = ${tenantId} AND enabled`.execute(trx);
  return Number(rows[0]?.count ?? 0);
}

export type TableRow = Record<string, string | number | boolean | null>;

/** Refused calls name servers too, even ones that do not exist; sign-ins and the gateway's own skills send content to nobody. */
const RECEIVED = sql`(r.llm_provider IS NOT NULL OR (r.server_id IS NOT NULL AND r.proxy_type NOT IN ('oauth', 'skill') AND (r.target_url IS NOT NULL OR r.source = 'otel')))`;
const KIND_OF_RECIPIENT = sql`CASE WHEN r.server_id IS NULL THEN 'provider' WHEN r.proxy_type = 'a2a' THEN 'agent' ELSE 'tool_server' END`;

/** Recipients of content: providers by model and region, tool servers and agents. */
export async function recipients(trx: Trx, window: FactWindow): Promise<TableRow[]> {
  const { rows } = await sql<TableRow>`
    SELECT * FROM (SELECT ${KIND_OF_RECIPIENT} AS kind, coalesce(r.server_id, r.llm_provider) AS recipient,
           r.llm_model_used AS model, r.region_routed_to AS region, r.residency_class, count(*)::int AS calls, min(r.id) AS first_row
      FROM audit_rows r WHERE ${recordedWithin(window)} AND ${RECEIVED}
     GROUP BY 1, 2, 3, 4, 5) t
     ORDER BY kind, recipient COLLATE "C", model COLLATE "C", region COLLATE "C", residency_class COLLATE "C"`.execute(trx);
  return rows;
}

export interface PlaceFact {
  readonly region: string | null;
  readonly residency_class: string | null;
  readonly kind: "provider" | "tool_server" | "agent" | "nobody";
  readonly recipient: string | null;
  readonly model: string | null;
  readonly calls: number;
  readonly first_row: string;
  readonly last_row: string;
}

/** Where content went, and what was kept from leaving. */
export async function placesOfContent(trx: Trx, window: FactWindow): Promise<PlaceFact[]> {
  const { rows } = await sql<PlaceFact>`
    SELECT * FROM (SELECT r.region_routed_to AS region, r.residency_class,
           CASE WHEN r.residency_class = 'blocked' THEN 'nobody' ELSE ${KIND_OF_RECIPIENT} END AS kind,
           CASE WHEN r.residency_class = 'blocked' THEN NULL ELSE coalesce(r.server_id, r.llm_provider) END AS recipient,
           r.llm_model_used AS model, count(*)::int AS calls, min(r.id) AS first_row, max(r.id) AS last_row
      FROM audit_rows r WHERE ${recordedWithin(window)} AND r.source IS DISTINCT FROM 'otel' AND r.llm_cache_hit IS NOT TRUE
       AND (${RECEIVED} OR r.residency_class = 'blocked')
     GROUP BY 1, 2, 3, 4, 5) t
     ORDER BY region COLLATE "C" NULLS LAST, kind, recipient COLLATE "C", model COLLATE "C", residency_class COLLATE "C"`.execute(trx);
  return rows;
}

const PHI = (tenantId: string) => sql`
  WITH RECURSIVE phi AS (
    SELECT id, name FROM resource_groups WHERE tenant_id = ${tenantId} AND phi_resource
    UNION SELECT g.id, g.name FROM resource_groups g JOIN phi ON g.parent_group_id = phi.id WHERE g.tenant_id = ${tenantId})`;

/** Who called through groups that handle health information, including the groups below them. */
export async function healthAccess(trx: Trx, window: FactWindow): Promise<{ groups: number; table: TableRow[] }> {
  const { rows: groups } = await sql<{ count: number }>`${PHI(window.tenantId)} SELECT count(*) AS count FROM phi`.execute(trx);
  const { rows } = await sql<TableRow>`${PHI(window.tenantId)}
    SELECT r.resource_group_id AS group_id, phi.name AS group_name, r.gateway_user_id AS user_id, r.gateway_user_username AS username,
           r.api_key_id, count(*)::int AS calls, min(r.id) AS first_row, max(r.id) AS last_row
      FROM audit_rows r JOIN phi ON phi.id::text = r.resource_group_id WHERE ${recordedWithin(window)}
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 3 NULLS LAST, 4 NULLS LAST, 5 NULLS LAST`.execute(trx);
  return { groups: Number(groups[0]?.count ?? 0), table: rows };
}

/** Every resource group with its risk tier (its own, or that of the nearest group above), its lifecycle state and its calls. */
export async function classifiedSystems(trx: Trx, window: FactWindow): Promise<TableRow[]> {
  const { rows } = await sql<TableRow>`
    WITH RECURSIVE tiers AS (
      SELECT id, eu_ai_act_risk_tier AS tier FROM resource_groups WHERE tenant_id = ${window.tenantId} AND parent_group_id IS NULL
      UNION ALL SELECT g.id, coalesce(g.eu_ai_act_risk_tier, t.tier) FROM resource_groups g JOIN tiers t ON g.parent_group_id = t.id
       WHERE g.tenant_id = ${window.tenantId})
    SELECT g.id AS group_id, g.name AS group_name, t.tier AS risk_tier, s.lifecycle_state,
           coalesce(c.calls, 0)::int AS calls, c.first_row
      FROM resource_groups g LEFT JOIN tiers t ON t.id = g.id LEFT JOIN ai_systems s ON s.id = g.id
      LEFT JOIN (SELECT r.resource_group_id, count(*) AS calls, min(r.id) AS first_row FROM audit_rows r WHERE ${recordedWithin(window)}
                  GROUP BY 1) c ON c.resource_group_id = g.id::text
     WHERE g.tenant_id = ${window.tenantId} ORDER BY g.name COLLATE "C"`.execute(trx);
  return rows;
}

/** Calls by kind and success. */
export async function activity(trx: Trx, window: FactWindow): Promise<TableRow[]> {
  const { rows } = await sql<TableRow>`
    SELECT r.proxy_type, coalesce(r.success, false) AS success, count(*)::int AS calls, min(r.id) AS first_row
      FROM audit_rows r WHERE ${recordedWithin(window)} GROUP BY 1, 2 ORDER BY r.proxy_type COLLATE "C", 2`.execute(trx);
  return rows;
}
