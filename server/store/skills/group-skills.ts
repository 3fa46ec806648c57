import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { Page, Paged } from "../records/paging.ts";

export interface GroupSkillRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly published_version: number | null;
  readonly allow_local_export: boolean;
  readonly execution_count: number;
  readonly depth: number;
  readonly bound_group_id: string;
  readonly bound_group_name: string;
}

/** Skills granted to the groups or inherited, each once, from the nearest group that was granted it. */
const granted = (tenantId: string, groupIds: readonly string[]) => sql`
  WITH RECURSIVE chain AS (
    SELECT id, name, parent_group_id, inherit_resources, 0 AS depth FROM resource_groups
     WHERE tenant_id = ${tenantId} AND id = ANY (${groupIds}::uuid[])
    UNION
    SELECT g.id, g.name, g.parent_group_id, g.inherit_resources, chain.depth + 1
      FROM chain JOIN resource_groups g ON g.id = chain.parent_group_id AND g.tenant_id = ${tenantId}
     WHERE chain.inherit_resources AND chain.depth < 10000
  ), nearest AS (
    SELECT DISTINCT ON (b.skill_id) b.skill_id, chain.depth, chain.id AS bound_group_id, chain.name AS bound_group_name
      FROM chain JOIN resource_group_agent_skills b ON b.group_id = chain.id AND b.tenant_id = ${tenantId}
     ORDER BY b.skill_id, chain.depth
  ), found AS (
    SELECT s.id, s.name, s.description, s.enabled, s.published_version, s.allow_local_export, s.execution_count,
           n.depth, n.bound_group_id, n.bound_group_name
      FROM nearest n JOIN agent_skills s ON s.id = n.skill_id AND s.tenant_id = ${tenantId}
  )`;

export async function skillsOfGroup(db: Database, tenantId: string, groupId: string, page: Page): Promise<Paged<GroupSkillRow>> {
  const { rows } = await sql<GroupSkillRow & { total: number }>`${granted(tenantId, [groupId])}
    SELECT found.*, counted.total FROM (SELECT count(*) AS total FROM found) counted
      LEFT JOIN LATERAL (SELECT * FROM found ORDER BY name LIMIT ${page.limit} OFFSET ${page.offset}) found ON true
     ORDER BY found.name`.execute(db);
  return { items: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

export interface SkillGroupRow {
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  readonly bound_group_id: string;
  readonly bound_group_name: string;
}

/** Groups that were granted the skill or inherit it, each once, with the nearest group that was granted it. */
export async function groupsOfSkill(db: Database, tenantId: string, skillId: string, page: Page): Promise<Paged<SkillGroupRow>> {
  const { rows } = await sql<SkillGroupRow & { total: number }>`
    WITH RECURSIVE reached AS (
      SELECT g.id, g.name, 0 AS depth, g.id AS bound_group_id, g.name AS bound_group_name
        FROM resource_group_agent_skills b JOIN resource_groups g ON g.id = b.group_id AND g.tenant_id = ${tenantId}
       WHERE b.tenant_id = ${tenantId} AND b.skill_id = ${skillId}
      UNION
      SELECT g.id, g.name, reached.depth + 1, reached.bound_group_id, reached.bound_group_name
        FROM reached JOIN resource_groups g ON g.parent_group_id = reached.id AND g.tenant_id = ${tenantId}
       WHERE g.inherit_resources AND reached.depth < 10000
    ), found AS (SELECT DISTINCT ON (id) * FROM reached ORDER BY id, depth)
    SELECT found.*, counted.total FROM (SELECT count(*) AS total FROM found) counted
      LEFT JOIN LATERAL (SELECT * FROM found ORDER BY name, id LIMIT ${page.limit} OFFSET ${page.offset}) found ON true
     ORDER BY found.name, found.id`.execute(db);
  return { items: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

/** Skills that members of the groups may download: published, enabled and exportable. */
export async function exportableSkills(db: Database, tenantId: string, groupIds: readonly string[]): Promise<GroupSkillRow[]> {
  if (groupIds.length === 0) return [];
  const { rows } = await sql<GroupSkillRow>`${granted(tenantId, groupIds)}
    SELECT * FROM found WHERE enabled AND allow_local_export AND published_version IS NOT NULL ORDER BY name`.execute(db);
  return rows;
}

export async function knownSkills(trx: Trx, tenantId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await trx.selectFrom("agent_skills").select("id").where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns the IDs that were not granted before. */
export async function bindSkills(trx: Trx, tenantId: string, groupId: string, skillIds: readonly string[]): Promise<string[]> {
  const rows = await trx
    .insertInto("resource_group_agent_skills")
    .values(skillIds.map((skillId) => ({ group_id: groupId, skill_id: skillId, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("skill_id")
    .execute();
  return rows.map((row) => row.skill_id);
}

/** Returns the IDs that had been granted. */
export async function unbindSkills(trx: Trx, tenantId: string, groupId: string, skillIds: readonly string[]): Promise<string[]> {
  const rows = await trx
    .deleteFrom("resource_group_agent_skills")
    .where("tenant_id", "=", tenantId)
    .where("group_id", "=", groupId)
    .where("skill_id", "in", skillIds)
    .returning("skill_id")
    .execute();
  return rows.map((row) => row.skill_id);
}
