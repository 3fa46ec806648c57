import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import { type EndUserGroupRow, memberCount } from "./end-user-groups.ts";

export interface Binding {
  readonly resourceGroupId: string;
  readonly endUserGroupId: string;
}

/** Serialises changes of bindings: from either side, each locks its own record and needs the other's. */
export async function lockBindings(trx: Trx, tenantId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`end_user_group_bindings/${tenantId}`}, 0))`.execute(trx);
}

/** Returns the bindings that are new. */
export async function bindEndUserGroups(trx: Trx, tenantId: string, bindings: readonly Binding[]): Promise<Binding[]> {
  const rows = await trx
    .insertInto("resource_group_end_user_groups")
    .values(
      bindings.map(({ resourceGroupId, endUserGroupId }) => ({
        resource_group_id: resourceGroupId,
        end_user_group_id: endUserGroupId,
        tenant_id: tenantId,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(["resource_group_id", "end_user_group_id"])
    .execute();
  return rows.map((row) => ({ resourceGroupId: row.resource_group_id, endUserGroupId: row.end_user_group_id }));
}

/** Returns the bindings that existed. */
export async function unbindEndUserGroups(trx: Trx, tenantId: string, bindings: readonly Binding[]): Promise<Binding[]> {
  const gone: Binding[] = [];
  for (const { resourceGroupId, endUserGroupId } of bindings) {
    const { numDeletedRows } = await trx
      .deleteFrom("resource_group_end_user_groups")
      .where("tenant_id", "=", tenantId)
      .where("resource_group_id", "=", resourceGroupId)
      .where("end_user_group_id", "=", endUserGroupId)
      .executeTakeFirstOrThrow();
    if (numDeletedRows > 0n) gone.push({ resourceGroupId, endUserGroupId });
  }
  return gone;
}

export async function endUserGroupsOfResourceGroup(
  db: Database,
  tenantId: string,
  groupId: string,
  page: Page,
): Promise<Paged<EndUserGroupRow>> {
  const bound = db
    .selectFrom("end_user_groups")
    .innerJoin("resource_group_end_user_groups as b", "b.end_user_group_id", "end_user_groups.id")
    .where("end_user_groups.tenant_id", "=", tenantId)
    .where("b.resource_group_id", "=", groupId);
  return pageOfRows(bound, bound.selectAll("end_user_groups").select(memberCount).orderBy("end_user_groups.name"), page);
}

/** The resource groups that an end-user group is bound to. */
export async function resourceGroupsOfEndUserGroup(
  db: Database,
  tenantId: string,
  groupId: string,
): Promise<{ id: string; name: string; display_name: string | null }[]> {
  return db
    .selectFrom("resource_groups as g")
    .innerJoin("resource_group_end_user_groups as b", "b.resource_group_id", "g.id")
    .where("g.tenant_id", "=", tenantId)
    .where("b.end_user_group_id", "=", groupId)
    .select(["g.id", "g.name", "g.display_name"])
    .orderBy("g.name")
    .execute();
}
