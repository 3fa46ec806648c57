import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { isName, nameContains } from "../records/names.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { ResourceGroupTable } from "../schema.ts";

export type ResourceGroupRow = Selectable<ResourceGroupTable>;
export type ResourceGroupInsert = Insertable<ResourceGroupTable>;
export type ResourceGroupPatch = Updateable<ResourceGroupTable>;

export interface ResourceGroupFilters {
  readonly search?: string | undefined;
  /** `root` finds groups without a parent. */
  readonly parent_id?: string | undefined;
  readonly group_type?: string | undefined;
}

export const resourceGroupStore: RecordStore<ResourceGroupRow, ResourceGroupInsert, ResourceGroupPatch, ResourceGroupFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("resource_groups").where("tenant_id", "=", tenantId);
    if (filters.parent_id === "root") query = query.where("parent_group_id", "is", null);
    else if (filters.parent_id !== undefined) query = query.where("parent_group_id", "=", filters.parent_id);
    if (filters.group_type !== undefined) query = query.where("group_type", "=", filters.group_type);
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) => eb.or([nameContains(filters.search ?? ""), eb("display_name", "ilike", pattern)]));
    }
    return pageOfRows(query, query.selectAll().orderBy("name"), page);
  },
  find: findInTenant("resource_groups"),
  ...writesById("resource_groups"),
};

/** Locks the shape of the tenant's tree until the transaction ends, so that two concurrent moves cannot form a cycle. */
export async function lockTree(trx: Trx, tenantId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`resource_groups/${tenantId}`}, 0))`.execute(trx);
}

export async function groupIdByName(db: Database | Trx, tenantId: string, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("resource_groups").select("id").where("tenant_id", "=", tenantId).where(isName(name)).executeTakeFirst();
  return row?.id;
}

/** Those of the IDs that are groups of the tenant. */
export async function knownGroups(db: Database | Trx, tenantId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom("resource_groups").select("id").where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
  return new Set(rows.map((row) => row.id));
}

export async function groupsByIds(db: Database, tenantId: string, ids: readonly string[]): Promise<ResourceGroupRow[]> {
  return ids.length === 0
    ? []
    : db.selectFrom("resource_groups").selectAll().where("tenant_id", "=", tenantId).where("id", "in", ids).execute();
}

// UNION, not UNION ALL, so that the walk ends even if the tree is damaged.

/** The group's ancestors, root first, without the group itself. */
export async function ancestorsOf(db: Database | Trx, tenantId: string, id: string): Promise<ResourceGroupRow[]> {
  const { rows } = await sql<ResourceGroupRow & { depth: number }>`
    WITH RECURSIVE up AS (
      SELECT parent_group_id AS id, 1 AS depth FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${id}
      UNION
      SELECT g.parent_group_id, up.depth + 1 FROM up JOIN resource_groups g ON g.id = up.id AND g.tenant_id = ${tenantId} WHERE up.depth < 10000
    )
    SELECT g.* FROM up JOIN resource_groups g ON g.id = up.id ORDER BY up.depth DESC`.execute(db);
  return rows;
}

/** The group's descendants, parents before children, without the group itself. */
export async function descendantsOf(db: Database | Trx, tenantId: string, id: string): Promise<ResourceGroupRow[]> {
  const { rows } = await sql<ResourceGroupRow>`
    WITH RECURSIVE down AS (
      SELECT id, 0 AS depth FROM resource_groups WHERE tenant_id = ${tenantId} AND id = ${id}
      UNION
      SELECT g.id, down.depth + 1 FROM down JOIN resource_groups g ON g.parent_group_id = down.id AND g.tenant_id = ${tenantId} WHERE down.depth < 10000
    )
    SELECT g.* FROM down JOIN resource_groups g ON g.id = down.id WHERE down.depth > 0 ORDER BY down.depth, g.name`.execute(db);
  return rows;
}

export interface GroupDependents {
  readonly children: number;
  readonly active_keys: number;
  readonly end_users: number;
  readonly ai_systems: number;
}

export async function dependentsOfGroup(db: Database | Trx, id: string, now: Date): Promise<GroupDependents> {
  const { rows } = await sql<GroupDependents>`
    SELECT (SELECT count(*) FROM resource_groups WHERE parent_group_id = ${id}) AS children,
           (SELECT count(*) FROM api_keys WHERE resource_group_id = ${id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})) AS active_keys,
           (SELECT count(*) FROM end_users WHERE assigned_group_id = ${id}) AS end_users,
           (SELECT count(*) FROM ai_systems WHERE id = ${id}) AS ai_systems`.execute(db);
  return rows[0] as GroupDependents;
}

/** Restarts the counters of these groups: a branch leaves them and takes its usage along. */
export async function recordBranchRemoved(trx: Trx, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable("resource_groups")
    .set((eb) => ({ branches_left: eb("branches_left", "+", 1) }))
    .where("tenant_id", "=", tenantId)
    .where("id", "in", ids)
    .execute();
}

/** Attributes the usage of the group, and of deleted groups attributed to it, to its parent. Does nothing without a parent. */
export async function moveUsageToParent(
  trx: Trx,
  { id, tenant_id, parent_group_id: heir_id }: Pick<ResourceGroupRow, "id" | "tenant_id" | "parent_group_id">,
): Promise<void> {
  if (heir_id === null) return;
  await trx.updateTable("gone_groups").set({ heir_id }).where("tenant_id", "=", tenant_id).where("heir_id", "=", id).execute();
  await trx.insertInto("gone_groups").values({ tenant_id, group_id: id, heir_id }).execute();
}
