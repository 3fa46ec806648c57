import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { knownTotal, type Page, type Paged } from "../records/paging.ts";
import { conditionSql, type ScimColumns, type ScimCondition } from "./scim-conditions.ts";
import type { ScimGroupTable } from "../tables/provisioning.ts";

export type ScimGroupRow = Selectable<ScimGroupTable>;

const COLUMNS: ScimColumns = {
  id: { text: sql`s.end_user_group_id::text`, normal: (value) => sql`lower(${value})` },
  externalId: { text: sql`s.external_id` },
  displayName: { text: sql`lower(s.display_name)`, normal: (value) => sql`lower(${value})` },
  created: { text: sql`s.created_at`, time: true },
  lastModified: { text: sql`s.updated_at`, time: true },
  member: {
    text: sql`ANY (SELECT m.end_user_id::text FROM end_user_group_members m WHERE m.group_id = s.end_user_group_id AND m.source = s.source)`,
    normal: (value) => sql`lower(${value})`,
  },
};

export async function scimGroupPage(
  db: Database,
  tenantId: string,
  source: string,
  condition: ScimCondition | undefined,
  page: Page,
): Promise<Paged<ScimGroupRow>> {
  const where = sql`s.tenant_id = ${tenantId} AND s.source = ${source} AND ${condition === undefined ? sql<boolean>`true` : conditionSql(condition, COLUMNS)}`;
  const read = async () =>
    (
      await sql<ScimGroupRow>`SELECT s.* FROM scim_groups s WHERE ${where} ORDER BY s.created_at, s.end_user_group_id LIMIT ${page.limit} OFFSET ${page.offset}`.execute(
        db,
      )
    ).rows;
  const items = page.limit === 0 ? [] : await read();
  const total =
    knownTotal(page, items.length) ??
    (await sql<{ total: number }>`SELECT count(*)::int AS total FROM scim_groups s WHERE ${where}`.execute(db)).rows[0]?.total ??
    0;
  return { items, total };
}

export async function scimGroupById(
  db: Database | Trx,
  tenantId: string,
  source: string,
  id: string,
  lock?: "lock",
): Promise<ScimGroupRow | undefined> {
  const query = db
    .selectFrom("scim_groups")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("source", "=", source)
    .where("end_user_group_id", "=", id);
  return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
}

export async function scimGroupByExternalId(
  trx: Trx,
  tenantId: string,
  source: string,
  externalId: string,
): Promise<ScimGroupRow | undefined> {
  return trx
    .selectFrom("scim_groups")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("source", "=", source)
    .where("external_id", "=", externalId)
    .executeTakeFirst();
}

/** The directory that a group belongs to; undefined if it is the gateway's own. */
export async function scimSourceOfGroup(db: Database | Trx, tenantId: string, groupId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("scim_groups")
    .select("source")
    .where("tenant_id", "=", tenantId)
    .where("end_user_group_id", "=", groupId)
    .executeTakeFirst();
  return row?.source;
}

export async function insertScimGroup(trx: Trx, values: Insertable<ScimGroupTable>): Promise<void> {
  await trx.insertInto("scim_groups").values(values).execute();
}

export async function updateScimGroup(trx: Trx, groupId: string, patch: Updateable<ScimGroupTable>): Promise<void> {
  await trx
    .updateTable("scim_groups")
    .set({ ...patch, version: sql`version + 1` })
    .where("end_user_group_id", "=", groupId)
    .execute();
}

/** Those of the IDs that are people of this directory. */
export async function peopleOfSource(trx: Trx, tenantId: string, source: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT end_user_id AS id FROM scim_users
     WHERE tenant_id = ${tenantId} AND source = ${source} AND deleted_at IS NULL AND end_user_id = ANY(${[...ids]}::uuid[])`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** Removes a person from all groups of the directory. */
export async function leaveScimGroups(trx: Trx, tenantId: string, source: string, userId: string): Promise<void> {
  await trx
    .deleteFrom("end_user_group_members")
    .where("tenant_id", "=", tenantId)
    .where("source", "=", source)
    .where("end_user_id", "=", userId)
    .execute();
}
