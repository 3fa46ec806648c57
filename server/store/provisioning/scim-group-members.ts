import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

export interface ScimMember {
  readonly group_id: string;
  readonly end_user_id: string;
  readonly display: string;
}

/** Members of these groups according to their directory. */
export async function scimMembersOf(
  db: Database | Trx,
  tenantId: string,
  source: string,
  groupIds: readonly string[],
): Promise<ScimMember[]> {
  if (groupIds.length === 0) return [];
  const { rows } = await sql<ScimMember>`
    SELECT m.group_id, m.end_user_id, coalesce(u.display_name, u.username) AS display
      FROM end_user_group_members m JOIN end_users u ON u.id = m.end_user_id
     WHERE m.tenant_id = ${tenantId} AND m.source = ${source} AND m.group_id = ANY(${[...groupIds]}::uuid[])
     ORDER BY m.created_at, m.end_user_id`.execute(db);
  return rows;
}

/** The next members of one group, ordered by ID: those after `after`, or the first. */
export async function scimMembersAfter(
  db: Database,
  { tenantId, source, groupId, after }: { tenantId: string; source: string; groupId: string; after: string | null },
  limit: number,
): Promise<ScimMember[]> {
  const { rows } = await sql<ScimMember>`
    SELECT m.group_id, m.end_user_id, coalesce(u.display_name, u.username) AS display
      FROM end_user_group_members m JOIN end_users u ON u.id = m.end_user_id
     WHERE m.tenant_id = ${tenantId} AND m.source = ${source} AND m.group_id = ${groupId}
           ${after === null ? sql`` : sql`AND m.end_user_id > ${after}`}
     ORDER BY m.end_user_id LIMIT ${limit}`.execute(db);
  return rows;
}

/** Member counts of these groups according to their directory; empty groups are left out. */
export async function countScimMembers(
  db: Database | Trx,
  tenantId: string,
  source: string,
  groupIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ group_id: string; members: number }>`
    SELECT group_id, count(*)::int AS members FROM end_user_group_members
     WHERE tenant_id = ${tenantId} AND source = ${source} AND group_id = ANY(${[...groupIds]}::uuid[]) GROUP BY group_id`.execute(db);
  return new Map(rows.map((row) => [row.group_id, row.members]));
}

export async function scimMemberIds(trx: Trx, source: string, groupId: string): Promise<string[]> {
  const { rows } = await sql<{
    end_user_id: string;
  }>`SELECT end_user_id FROM end_user_group_members WHERE group_id = ${groupId} AND source = ${source}`.execute(trx);
  return rows.map((row) => row.end_user_id);
}

/** Returns those who were not members. */
export async function addScimMembers(
  trx: Trx,
  tenantId: string,
  source: string,
  groupId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    INSERT INTO end_user_group_members (group_id, end_user_id, source, tenant_id)
    SELECT ${groupId}::uuid, id, ${source}, ${tenantId} FROM unnest(${[...ids]}::uuid[]) AS t(id)
    ON CONFLICT DO NOTHING RETURNING end_user_id AS id`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Returns those who were members. */
export async function removeScimMembers(trx: Trx, source: string, groupId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    DELETE FROM end_user_group_members WHERE group_id = ${groupId} AND source = ${source} AND end_user_id = ANY(${[...ids]}::uuid[])
    RETURNING end_user_id AS id`.execute(trx);
  return rows.map(({ id }) => id);
}
