import { sql } from "kysely";
import type { ChainStretch } from "./ai-system-signs.ts";
import type { Database, Trx } from "../database.ts";

/** Aggregates per hour the calls that AI Systems' own callers made, leaving out replays. */
export async function addHours(trx: Trx, stretch: ChainStretch): Promise<void> {
  await sql`
    INSERT INTO ai_system_hours AS known (tenant_id, ai_system_id, hour, calls, timed, log_ms, refused, guarded, errors, last_at)
    SELECT s.tenant_id, s.id, date_trunc('hour', a.timestamp, 'UTC'), count(*), count(*) FILTER (WHERE timed),
           coalesce(sum(ln(1 + a.duration_ms)) FILTER (WHERE timed), 0),
           count(*) FILTER (WHERE NOT a.success AND a.http_status_code = 403), count(*) FILTER (WHERE a.guardrail_action IS NOT NULL),
           count(*) FILTER (WHERE NOT a.success AND a.http_status_code NOT IN (403, 429) AND a.proxy_subtype <> 'approval_required'),
           max(a.timestamp)
      FROM (SELECT *, coalesce(success AND llm_model_used IS NOT NULL AND duration_ms IS NOT NULL AND NOT coalesce(llm_cache_hit, false), false) AS timed
              FROM audit_rows WHERE chain_id = ${stretch.chainId} AND chain_seq > ${stretch.from} AND chain_seq <= ${stretch.to}
                AND parent_request_id IS NULL) a
      JOIN ai_systems s ON s.tenant_id = a.tenant_id AND s.id::text = a.resource_group_id
     WHERE a.source = 'gateway' AND a.proxy_type IN ('llm', 'mcp', 'virtual_mcp', 'a2a', 'skill', 'batch')
       AND NOT coalesce(a.tags @> '["replay"]', false)
     GROUP BY s.tenant_id, s.id, 3
    ON CONFLICT (ai_system_id, hour) DO UPDATE SET calls = known.calls + excluded.calls, timed = known.timed + excluded.timed,
      log_ms = known.log_ms + excluded.log_ms, refused = known.refused + excluded.refused, guarded = known.guarded + excluded.guarded,
      errors = known.errors + excluded.errors, last_at = greatest(known.last_at, excluded.last_at)`.execute(trx);
}

/** When a system's own callers last called it, successfully or not; null if never recorded. */
export async function lastCallOf(db: Database | Trx, tenantId: string, systemId: string): Promise<Date | null> {
  const newest = await db
    .selectFrom("ai_system_hours")
    .select("last_at")
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("hour", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest?.last_at ?? null;
}
