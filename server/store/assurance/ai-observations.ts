import { type Selectable, sql } from "kysely";
import { addHours } from "./ai-system-hours.ts";
import { addSigns } from "./ai-system-signs.ts";
import type { Database, Trx } from "../database.ts";
import type { AiSystemObservationTable } from "../tables/assurance.ts";

export type ObservationRow = Selectable<AiSystemObservationTable>;

/** Rows of a chain read per statement, so that a backlog leaves room in the database for others. */
const ROWS_AT_ONCE = 5_000;
/** Most observations of one kind kept for a system: if its instructions differ with each call, none are normal. */
export const MAX_PER_KIND = 500;

/** Starts observing at the current chain heads; earlier rows are not observed. */
export async function beginObserving(trx: Trx): Promise<void> {
  await sql`INSERT INTO observed_chains (chain_id, seq) SELECT chain_id, head_seq FROM audit_chains ON CONFLICT DO NOTHING`.execute(trx);
}

/**
 * Reads on in each chain and aggregates the rows of AI Systems. Chains are read in chain order, so that each row is counted exactly once,
 * however late it arrives. Returns whether there is more to read.
 */
export async function observeRows(db: Database): Promise<boolean> {
  const { rows: chains } = await sql<{ chain_id: string; head_seq: number; is_new: boolean }>`
    SELECT c.chain_id, c.head_seq, o.seq IS NULL AS is_new
      FROM audit_chains c LEFT JOIN observed_chains o ON o.chain_id = c.chain_id WHERE o.seq IS NULL OR o.seq < c.head_seq`.execute(db);
  let more = false;
  for (const { chain_id: chainId, head_seq: head, is_new: isNew } of chains) {
    if (isNew)
      await db
        .insertInto("observed_chains")
        .values({ chain_id: chainId, seq: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    more = (await db.transaction().execute((trx) => observeChain(trx, chainId, head))) || more;
  }
  return more;
}

async function observeChain(trx: Trx, chainId: string, head: number): Promise<boolean> {
  const known = await trx.selectFrom("observed_chains").select("seq").where("chain_id", "=", chainId).forUpdate().executeTakeFirst();
  const from = known?.seq ?? head;
  if (from >= head) return false;
  const to = Math.min(from + ROWS_AT_ONCE, head);
  await sql`
    WITH seen AS MATERIALIZED (
      SELECT s.tenant_id, s.id AS ai_system_id, a.id, a.timestamp, a.llm_model_used, a.llm_provider, a.custom_metadata, a.server_id, a.skill_id,
             a.mcp_capability_name,
             CASE WHEN a.proxy_type = 'virtual_mcp' THEN regexp_replace(a.mcp_capability_name, '^.*?__', '') ELSE a.mcp_capability_name END AS own_name,
             a.mcp_method, a.tool_definition_hash, a.prompt_fingerprint, a.api_key_id, a.subject_kind, a.subject_id,
             a.pii_detected, a.region_routed_to
        FROM audit_rows a JOIN ai_systems s ON s.tenant_id = a.tenant_id AND s.id::text = a.resource_group_id
       WHERE a.chain_id = ${chainId} AND a.chain_seq > ${from} AND a.chain_seq <= ${to} AND a.source = 'gateway' AND a.success
         AND a.proxy_type IN ('llm', 'mcp', 'virtual_mcp', 'a2a', 'skill', 'batch')
         AND NOT coalesce(a.tags @> '["replay"]', false)
    ), things AS (
      SELECT *, 'call' AS kind, '' AS subject, '{}'::jsonb AS detail FROM seen
      UNION ALL
      SELECT *, 'model', llm_model_used || coalesce(' (' || (custom_metadata->>'upstream_model') || ')', ''),
             jsonb_build_object('model', llm_model_used, 'provider', llm_provider, 'upstream_model', custom_metadata->>'upstream_model')
        FROM seen WHERE llm_model_used IS NOT NULL
      UNION ALL
      SELECT *, 'tool', server_id || ' ' || mcp_capability_name || coalesce(' ' || tool_definition_hash, ''),
             jsonb_build_object('server_id', server_id, 'tool', own_name, 'definition', tool_definition_hash)
        FROM seen WHERE server_id IS NOT NULL AND mcp_method = 'tools/call' AND mcp_capability_name IS NOT NULL
      UNION ALL
      SELECT *, 'skill', skill_id, jsonb_build_object('skill_id', skill_id) FROM seen WHERE skill_id IS NOT NULL
      UNION ALL
      SELECT *, 'caller', coalesce('key ' || api_key_id, subject_kind || ' ' || subject_id),
             jsonb_build_object('api_key_id', api_key_id, 'subject_kind', subject_kind, 'subject_id', subject_id)
        FROM seen WHERE coalesce(api_key_id, subject_id) IS NOT NULL
      UNION ALL
      SELECT *, 'prompt', prompt_fingerprint, '{}'::jsonb FROM seen WHERE prompt_fingerprint IS NOT NULL
      UNION ALL
      SELECT *, 'data', 'personal data', '{}'::jsonb FROM seen WHERE pii_detected
      UNION ALL
      SELECT *, 'data', 'region ' || region_routed_to, jsonb_build_object('region', region_routed_to) FROM seen WHERE region_routed_to IS NOT NULL
    )
    INSERT INTO ai_system_observations AS known (tenant_id, ai_system_id, kind, subject, detail, calls, first_seen, last_seen, first_row, last_row)
    SELECT tenant_id, ai_system_id, kind, subject, (array_agg(detail))[1], count(*), min(timestamp), max(timestamp), min(id), max(id)
      FROM things t
     WHERE EXISTS (SELECT 1 FROM ai_system_observations k WHERE k.ai_system_id = t.ai_system_id AND k.kind = t.kind AND k.subject = t.subject)
        OR (SELECT count(*) FROM ai_system_observations k WHERE k.ai_system_id = t.ai_system_id AND k.kind = t.kind) < ${MAX_PER_KIND}
     GROUP BY tenant_id, ai_system_id, kind, subject
    ON CONFLICT (ai_system_id, kind, subject) DO UPDATE SET
      calls = known.calls + excluded.calls, detail = excluded.detail,
      first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen),
      first_row = least(known.first_row, excluded.first_row), last_row = greatest(known.last_row, excluded.last_row)`.execute(trx);
  const stretch = { chainId, from, to };
  await addHours(trx, stretch);
  await addSigns(trx, stretch);
  await trx.updateTable("observed_chains").set({ seq: to }).where("chain_id", "=", chainId).execute();
  return to < head;
}

/** What was observed of a system, newest first. */
export function observationsOf(db: Database | Trx, tenantId: string, systemId: string): Promise<ObservationRow[]> {
  return db
    .selectFrom("ai_system_observations")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("last_seen", "desc")
    .orderBy("subject")
    .execute();
}

/** Hours since `since` in which the system was called, oldest first. */
export async function activeHours(db: Database | Trx, tenantId: string, systemId: string, since: Date): Promise<Date[]> {
  const { rows } = await sql<{ hour: Date }>`
    SELECT DISTINCT hour FROM usage_hourly
     WHERE tenant_id = ${tenantId} AND resource_group_id = ${systemId}::text AND hour >= ${since} ORDER BY hour`.execute(db);
  return rows.map(({ hour }) => hour);
}

export interface CallsOfHour {
  readonly hour: Date;
  readonly calls: number;
  readonly errors: number;
  readonly micros: number;
  readonly unpriced: number;
  readonly tokens: number;
  /** Answered model calls, and the sum of the logarithms of their durations in milliseconds; null if the hour was not recorded. */
  readonly timed: number | null;
  readonly log_ms: number | null;
  readonly refused: number | null;
  readonly guarded: number | null;
  /** Calls that `timed`, `refused` and `guarded` were counted over. */
  readonly told: number | null;
}

/** The system's calls per hour from `from` up to `to`, oldest first; hours without calls are left out. */
export async function hoursOfSystem(db: Database | Trx, tenantId: string, systemId: string, from: Date, to: Date): Promise<CallsOfHour[]> {
  const { rows } = await sql<CallsOfHour>`
    SELECT u.*, h.timed, h.log_ms, h.refused, h.guarded, h.calls AS told FROM (
      SELECT hour, sum(requests)::bigint AS calls, sum(errors)::bigint AS errors, sum(cost_micro_usd)::bigint AS micros,
             sum(unpriced_requests)::bigint AS unpriced, sum(prompt_tokens + completion_tokens)::bigint AS tokens
        FROM usage_hourly WHERE tenant_id = ${tenantId} AND resource_group_id = ${systemId}::text AND hour >= ${from} AND hour < ${to}
       GROUP BY hour) u
      LEFT JOIN ai_system_hours h ON h.tenant_id = ${tenantId} AND h.ai_system_id = ${systemId} AND h.hour = u.hour
     ORDER BY u.hour`.execute(db);
  return rows;
}
