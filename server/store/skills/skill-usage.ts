import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type HourlyCount, HOUR_OR_DAY, IN_DAY } from "../tools/tool-usage.ts";
import { SURVIVING_GROUP, SURVIVING_GROUPS } from "../usage/usage-totals.ts";

/** What skill usage needs of a row of `audit_rows a`: whether something of a skill was requested, and whether a script was run. */
export const SKILL_FACTS = `a.skill_id, a.proxy_type = 'skill' AND a.source IS DISTINCT FROM 'otel' AND a.target_url IS NOT NULL
    AND a.mcp_capability_name IS NOT NULL AS of_skills, a.proxy_subtype = 'skill_run' AS of_skill_run`;

/** One more CTE, which adds the rows of `shipped`, a CTE of facts. In key order, like the other usage. */
export const ADD_SKILL_USAGE = `
  skills AS (
    INSERT INTO skill_usage_hourly
    SELECT tenant_id, date_trunc('hour', timestamp, 'UTC'), coalesce(resource_group_id, ''), coalesce(skill_id, ''), count(*)
    FROM shipped WHERE of_skills GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, hour, resource_group_id, skill_id) DO UPDATE SET calls = skill_usage_hourly.calls + excluded.calls),
  skills_run AS (
    SELECT id FROM agent_skills WHERE id IN (SELECT skill_id FROM shipped WHERE of_skills AND of_skill_run) ORDER BY id FOR UPDATE),
  executions AS (
    UPDATE agent_skills s SET execution_count = s.execution_count + r.runs
    FROM (SELECT tenant_id, skill_id, count(*) AS runs FROM shipped WHERE of_skills AND of_skill_run GROUP BY 1, 2) r, skills_run
    WHERE s.id = r.skill_id AND s.tenant_id = r.tenant_id AND skills_run.id = s.id)`;

/** Skill calls in the UTC day of `at`, in milliseconds since the epoch. */
export async function skillUsageOfDay(db: Database, tenantId: string, at: number): Promise<HourlyCount[]> {
  const { rows } = await sql<HourlyCount>`
    SELECT ${sql.raw(SURVIVING_GROUP)} AS resource_group_id, skill_id AS item, ${HOUR_OR_DAY(at)} AS hour, sum(calls)::bigint AS count
    FROM skill_usage_hourly u ${sql.raw(SURVIVING_GROUPS)} WHERE u.tenant_id = ${tenantId} AND ${IN_DAY(at)} GROUP BY GROUPING SETS ((1, 2, 3), (1, 3))`.execute(
    db,
  );
  return rows;
}
