import { type Insertable, type Selectable, type Updateable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { lockName } from "../connections/named-lock.ts";
import { isName, nameContains } from "../records/names.ts";
import { containing, type Page, type Paged, pageOfRows } from "../records/paging.ts";
import { type RecordStore, lockThenFind, writesById } from "../records/record-store.ts";
import type { EndUserGroupTable } from "../tables/people.ts";

export type EndUserGroupRow = Selectable<EndUserGroupTable> & { readonly member_count: number };
export type EndUserGroupInsert = Insertable<EndUserGroupTable>;
export type EndUserGroupPatch = Updateable<EndUserGroupTable>;

const DIRECT = "direct";

export const memberCount =
  sql<number>`(SELECT count(DISTINCT m.end_user_id) FROM end_user_group_members m WHERE m.group_id = end_user_groups.id)`.as(
    "member_count",
  );

export const endUserGroupStore: RecordStore<
  EndUserGroupRow,
  EndUserGroupInsert,
  EndUserGroupPatch,
  { readonly search?: string | undefined }
> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("end_user_groups").where("tenant_id", "=", tenantId);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) => eb.or([nameContains(filters.search ?? ""), eb("display_name", "ilike", pattern)]));
    }
    return pageOfRows(query, query.selectAll().select(memberCount).orderBy("name"), page);
  },
  find: lockThenFind("end_user_groups", (db, tenantId, id) =>
    db
      .selectFrom("end_user_groups")
      .selectAll()
      .select(memberCount)
      .where("tenant_id", "=", tenantId)
      .where("id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("end_user_groups"),
};

/** Serialises the naming of groups in the tenant. */
export async function endUserGroupIdByName(trx: Trx, tenantId: string, name: string): Promise<string | undefined> {
  await lockName(trx, `end_user_groups/${tenantId}`);
  const row = await trx.selectFrom("end_user_groups").select("id").where("tenant_id", "=", tenantId).where(isName(name)).executeTakeFirst();
  return row?.id;
}

/** Those of the IDs that are records of the tenant. */
export async function knownOf(
  db: Database | Trx,
  table: "end_users" | "end_user_groups" | "resource_groups",
  tenantId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom(table).select("id").where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
  return new Set(rows.map((row) => row.id));
}

export interface GroupMemberRow {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly display_name: string | null;
  readonly is_active: boolean;
  readonly sources: string[];
}

export async function groupMembersOf(db: Database, tenantId: string, groupId: string, page: Page): Promise<Paged<GroupMemberRow>> {
  const members = db
    .selectFrom("end_user_group_members as m")
    .innerJoin("end_users as u", "u.id", "m.end_user_id")
    .where("m.tenant_id", "=", tenantId)
    .where("m.group_id", "=", groupId);
  const items = await members
    .select([
      "u.id",
      "u.username",
      "u.email",
      "u.display_name",
      "u.is_active",
      sql<string[]>`array_agg(m.source ORDER BY m.source)`.as("sources"),
    ])
    .groupBy("u.id")
    .orderBy("u.username")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await members.select(sql<number>`count(DISTINCT u.id)`.as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

export async function directMembers(trx: Trx, groupId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom("end_user_group_members")
    .select("end_user_id")
    .where("group_id", "=", groupId)
    .where("source", "=", DIRECT)
    .execute();
  return rows.map((row) => row.end_user_id);
}

/** Adds direct memberships and returns the IDs that are new. */
export async function addMembers(trx: Trx, tenantId: string, groupId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const rows = await trx
    .insertInto("end_user_group_members")
    .values(userIds.map((end_user_id) => ({ group_id: groupId, end_user_id, source: DIRECT, tenant_id: tenantId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("end_user_id")
    .execute();
  return rows.map((row) => row.end_user_id);
}

/** Removes direct memberships and returns the IDs that had one. Memberships from an external directory stay. */
export async function removeMembers(trx: Trx, groupId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const rows = await trx
    .deleteFrom("end_user_group_members")
    .where("group_id", "=", groupId)
    .where("source", "=", DIRECT)
    .where("end_user_id", "in", userIds)
    .returning("end_user_id")
    .execute();
  return rows.map((row) => row.end_user_id);
}
