import { type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { AiSystemControlTable } from "../tables/assurance.ts";

export type ControlSigns = Selectable<AiSystemControlTable>;

/** The rows of a chain after `from`, up to and including `to`. */
export interface ChainStretch {
  readonly chainId: string;
  readonly from: number;
  readonly to: number;
}

/**
 * How a row shows that a control inspected the call, or judged it in a nested call. Compared with the calls that carried something to
 * inspect.
 */
const SIGNS = sql`(VALUES
  ('guardrails', a.guardrail_blocked IS NOT NULL),
  ('guardrail_models', a.proxy_subtype = 'guardrail_model' AND a.success),
  ('argument_policies', a.argument_policy_denied IS NOT NULL),
  ('semantic_policies', a.proxy_subtype = 'semantic_policy_judge' AND a.success),
  ('limits', a.pre_action_state IS NOT NULL),
  ('residency', a.residency_class IN ('allowed', 'blocked'))) AS c (control, looked)`;

/** Records each control's signs of life, and how many calls went by without one. */
export async function addSigns(trx: Trx, stretch: ChainStretch): Promise<void> {
  await sql`
    WITH seen AS MATERIALIZED (
      SELECT s.tenant_id, s.id AS ai_system_id, a.id, a.timestamp, c.control, coalesce(c.looked, false) AS looked, a.parent_request_id IS NULL
             AND a.success AND (a.llm_model_used IS NOT NULL OR a.mcp_method = 'tools/call') AS carries
        FROM audit_rows a JOIN ai_systems s ON s.tenant_id = a.tenant_id AND s.id::text = a.resource_group_id CROSS JOIN LATERAL ${SIGNS}
       WHERE a.chain_id = ${stretch.chainId} AND a.chain_seq > ${stretch.from} AND a.chain_seq <= ${stretch.to} AND a.source = 'gateway'
         AND NOT coalesce(a.tags @> '["replay"]', false)
    ), marked AS (
      SELECT *, max(id) FILTER (WHERE looked) OVER (PARTITION BY ai_system_id, control) AS last_sign FROM seen
    )
    INSERT INTO ai_system_controls AS known (tenant_id, ai_system_id, control, looked, calls, since_last, last_seen, last_row)
    SELECT tenant_id, ai_system_id, control, count(*) FILTER (WHERE looked), count(*) FILTER (WHERE carries),
           count(*) FILTER (WHERE carries AND (last_sign IS NULL OR id > last_sign)),
           coalesce(max(timestamp) FILTER (WHERE looked), 'epoch'), coalesce(max(last_sign), '')
      FROM marked m
     GROUP BY tenant_id, ai_system_id, control
    HAVING bool_or(looked) OR EXISTS (SELECT 1 FROM ai_system_controls k WHERE k.ai_system_id = m.ai_system_id AND k.control = m.control)
    ON CONFLICT (ai_system_id, control) DO UPDATE SET looked = known.looked + excluded.looked, calls = known.calls + excluded.calls,
      since_last = CASE WHEN excluded.last_row = '' THEN known.since_last + excluded.since_last ELSE excluded.since_last END,
      last_seen = greatest(known.last_seen, excluded.last_seen), last_row = greatest(known.last_row, excluded.last_row)`.execute(trx);
}

export function controlSigns(db: Database | Trx, tenantId: string, systemId: string): Promise<ControlSigns[]> {
  return db
    .selectFrom("ai_system_controls")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("control")
    .execute();
}
