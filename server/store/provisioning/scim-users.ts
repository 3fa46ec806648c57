import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { knownTotal, type Page, type Paged } from "../records/paging.ts";
import { conditionSql, type ScimColumns, type ScimCondition } from "./scim-conditions.ts";
import { nameIs } from "../people/usernames.ts";
import type { ScimUserTable } from "../tables/provisioning.ts";

/** A person of a directory, with the gateway's own data on them. */
export interface ScimUserRow extends Selectable<ScimUserTable> {
  readonly username: string;
}

export interface ScimMembership {
  readonly end_user_id: string;
  readonly group_id: string;
  readonly display_name: string;
}

const COLUMNS: ScimColumns = {
  id: { text: sql`u.id::text`, normal: (value) => sql`lower(${value})` },
  userName: { text: sql`lower(u.username)`, normal: (value) => sql`lower(${value.normalize("NFC")})` },
  externalId: { text: sql`s.external_id` },
  active: { text: sql`s.active::text`, normal: (value) => sql`lower(${value})` },
  displayName: { text: sql`lower(u.display_name)`, normal: (value) => sql`lower(${value})` },
  created: { text: sql`s.created_at`, time: true },
  lastModified: { text: sql`s.updated_at`, time: true },
};

const ROW = sql`s.*, u.username FROM scim_users s JOIN end_users u ON u.id = s.end_user_id`;

export async function scimUserPage(
  db: Database,
  tenantId: string,
  source: string,
  condition: ScimCondition | undefined,
  page: Page,
): Promise<Paged<ScimUserRow>> {
  const where = sql`s.tenant_id = ${tenantId} AND u.tenant_id = ${tenantId} AND s.source = ${source} AND s.deleted_at IS NULL AND ${condition === undefined ? sql<boolean>`true` : conditionSql(condition, COLUMNS)}`;
  const read = async () =>
    (
      await sql<ScimUserRow>`SELECT ${ROW} WHERE ${where} ORDER BY s.created_at, s.end_user_id LIMIT ${page.limit} OFFSET ${page.offset}`.execute(
        db,
      )
    ).rows;
  const items = page.limit === 0 ? [] : await read();
  const total =
    knownTotal(page, items.length) ??
    (
      await sql<{
        total: number;
      }>`SELECT count(*)::int AS total FROM scim_users s JOIN end_users u ON u.id = s.end_user_id WHERE ${where}`.execute(db)
    ).rows[0]?.total ??
    0;
  return { items, total };
}

/** With `lock`, nobody else changes the person until the transaction ends. */
export async function scimUserById(
  db: Database | Trx,
  tenantId: string,
  source: string,
  id: string,
  lock?: "lock",
): Promise<ScimUserRow | undefined> {
  const { rows } = await sql<ScimUserRow>`
    SELECT ${ROW} WHERE s.tenant_id = ${tenantId} AND u.tenant_id = ${tenantId} AND s.source = ${source} AND s.end_user_id = ${id} AND s.deleted_at IS NULL
    ${lock === undefined ? sql`` : sql`FOR UPDATE`}`.execute(db);
  return rows[0];
}

/** The person with this external ID, including deleted ones. With `share`, the directory cannot change them until the transaction ends. */
export async function scimUserByExternalId(
  db: Database | Trx,
  tenantId: string,
  source: string,
  externalId: string,
  lock?: "share",
): Promise<ScimUserRow | undefined> {
  const { rows } = await sql<ScimUserRow>`
    SELECT ${ROW} WHERE s.tenant_id = ${tenantId} AND s.source = ${source} AND s.external_id = ${externalId}
    ${lock === undefined ? sql`` : sql`FOR SHARE OF s`}`.execute(db);
  return rows[0];
}

/** Whether neither the name nor the directory's ID is taken, even by deleted people: the case of most requests of a first sync. */
export async function isNewPerson(
  trx: Trx,
  tenantId: string,
  source: string,
  username: string,
  externalId: string | null,
): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    SELECT EXISTS (SELECT FROM end_users WHERE tenant_id = ${tenantId} AND ${nameIs(username)})
        OR EXISTS (SELECT FROM scim_users WHERE tenant_id = ${tenantId} AND source = ${source} AND external_id = ${externalId}::text) AS known`.execute(
    trx,
  );
  return rows[0]?.known === false;
}

/** The record of an end user in any directory; undefined if they are the gateway's own. */
export async function scimUserOf(
  db: Database | Trx,
  tenantId: string,
  endUserId: string,
  lock?: "lock",
): Promise<Selectable<ScimUserTable> | undefined> {
  const query = db.selectFrom("scim_users").selectAll().where("tenant_id", "=", tenantId).where("end_user_id", "=", endUserId);
  return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
}

export async function insertScimUser(trx: Trx, values: Insertable<ScimUserTable>): Promise<void> {
  await trx.insertInto("scim_users").values(values).execute();
}

export async function updateScimUser(trx: Trx, endUserId: string, patch: Updateable<ScimUserTable>): Promise<void> {
  await trx
    .updateTable("scim_users")
    .set({ ...patch, version: sql`version + 1` })
    .where("end_user_id", "=", endUserId)
    .execute();
}

/** The directory's own groups that these people are in. */
export async function scimMemberships(
  db: Database | Trx,
  tenantId: string,
  source: string,
  userIds: readonly string[],
): Promise<ScimMembership[]> {
  if (userIds.length === 0) return [];
  const { rows } = await sql<ScimMembership>`
    SELECT m.end_user_id, m.group_id, g.display_name FROM end_user_group_members m JOIN scim_groups g ON g.end_user_group_id = m.group_id
     WHERE m.tenant_id = ${tenantId} AND m.source = ${source} AND g.source = ${source} AND m.end_user_id = ANY(${[...userIds]}::uuid[])
     ORDER BY g.display_name`.execute(db);
  return rows;
}
